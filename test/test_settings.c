/* Settings: the table holds together; files and assignments are read strictly, and errors say where, what and what was
 * expected; the resolved text reads back as the same settings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/settings.h"
#include "scratch.h"
#include "settings_case.h"

/* ---- Helpers ---- */

static void refuses(const char *text, const char *expected)
{
  r4_error e = {0};
  r4_settings *s = settings_case("");
  assert_error(&e, settings_case_read(s, text, &e), expected);
  r4_settings_free(s);
}

static void refuses_set(const char *assignment, const char *expected)
{
  r4_error e = {0};
  r4_settings *s = settings_case("");
  assert_error(&e, r4_settings_set(s, assignment, "--set", &e), expected);
  r4_settings_free(s);
}

/* ---- The table ---- */

static void test_table_holds_together(void **state)
{
  (void)state;
  r4_settings *s = settings_case("");
  const char *group = "";
  for (size_t k = 0; k < r4_setting_count(); k++) {
    r4_setting_info i = r4_setting_describe(k);
    r4_setting_value v;
    assert_int_equal(r4_settings_get(s, i.key, &v, NULL), R4_OK);
    assert_int_equal(v.type, i.type);
    bool numbers = i.type == R4_SETTING_REAL || i.type == R4_SETTING_REALS; /* some take a word as well */
    if (!numbers) assert_true((i.choices != NULL) == (i.type == R4_SETTING_CHOICE));
    if (i.type == R4_SETTING_WHOLE || i.type == R4_SETTING_REAL) assert_true(i.min < i.max);
    assert_true(*i.help && strlen(i.help) <= 92);
    for (size_t j = 0; j < k; j++) {
      r4_setting_info other = r4_setting_describe(j);
      if (!strcmp(other.key, i.key)) fail_msg("%s stands twice", i.key);
      if (!strcmp(other.group, i.group) && strcmp(group, i.group)) fail_msg("group %s is torn", i.group);
    }
    group = i.group;
  }
  assert_null(r4_setting_describe(r4_setting_count()).key);
  r4_settings_free(s);
}

/* Every setting, changed away from its default by text, comes back as it was written. */
static void test_each_setting_reads_back(void **state)
{
  (void)state;
  for (size_t k = 0; k < r4_setting_count(); k++) {
    static const char *const value[] = {[R4_SETTING_WHOLE] = "7",
                                        [R4_SETTING_REAL] = "0.3",
                                        [R4_SETTING_TEXT] = "a\"b\\c",
                                        [R4_SETTING_REALS] = "0.5,2"};
    r4_setting_info i = r4_setting_describe(k);
    const char *v = value[i.type];
    if (i.type == R4_SETTING_FLAG) v = strcmp(i.initial, "true") ? "true" : "false";
    if (i.type == R4_SETTING_CHOICE) v = i.choices[!strcmp(i.choices[0], i.initial)];
    char assignment[128];
    r4_error e;
    snprintf(assignment, sizeof assignment, "%s=%s", i.key, v);
    r4_settings *s = settings_case(""), *again = settings_case(""), *fresh = settings_case("");
    if (r4_settings_set(s, assignment, "--set", &e)) fail_msg("%s", e.text);
    char *text = r4_settings_text(s), *initial = r4_settings_text(fresh);
    assert_string_not_equal(text, initial);
    if (settings_case_read(again, text, &e)) fail_msg("%s\n%s", e.text, text);
    char *text_again = r4_settings_text(again);
    assert_string_equal(text, text_again);
    r4_string_free(text);
    r4_string_free(initial);
    r4_string_free(text_again);
    r4_settings_free(s);
    r4_settings_free(again);
    r4_settings_free(fresh);
  }
}

/* ---- Reading ---- */

static void test_values_arrive(void **state)
{
  (void)state;
  r4_settings *s = settings_case("method: cert-r4   # the certified one\n"
                                 "lambda: 1.5e-3\n"
                                 "net: >\n  conv 8 3,\n  flatten, dense 10\n"
                                 "data.from: mnist\n"
                                 "data: {seed: 12, val: .25}\n"
                                 "decay_at: [10, 20.5]\n"
                                 "drop_last: true\n"
                                 "seed: 9007199254740991\n");
  const struct settings *v = &s->values;
  assert_string_equal(v->method, "cert-r4");
  assert_true(v->lambda == 1.5e-3);
  assert_string_equal(v->net, "conv 8 3, flatten, dense 10\n");
  assert_string_equal(v->data.from, "mnist");
  assert_int_equal(v->data.seed, 12);
  assert_true(v->data.val == .25);
  assert_int_equal(v->decay_at.n, 2);
  assert_true(v->decay_at.v[0] == 10 && v->decay_at.v[1] == 20.5);
  assert_true(v->drop_last);
  assert_true(v->seed == 9007199254740991);
  assert_int_equal(v->epochs, 10);
  r4_settings_free(s);
}

static void test_nothing_is_defaults(void **state)
{
  (void)state;
  static const char *const nothing[] = {"", "\n\n", "# only this\n", "---\n", "{}", "--- {}\n...\n"};
  r4_settings *fresh = settings_case("");
  char *expected = r4_settings_text(fresh);
  for (size_t k = 0; k < sizeof nothing / sizeof *nothing; k++) {
    r4_settings *s = settings_case(nothing[k]);
    char *text = r4_settings_text(s);
    assert_string_equal(text, expected);
    r4_string_free(text);
    r4_settings_free(s);
  }
  r4_string_free(expected);
  r4_settings_free(fresh);
}

static void test_keys_are_known(void **state)
{
  (void)state;
  refuses("epochs: 3\nlamda: 1\n", "a.yaml:2:1: no setting \"lamda\"; did you mean lambda?");
  refuses("data:\n  seed: 1\n  form: x\n", "a.yaml:3:3: no setting \"data.form\"; did you mean data.from?");
  refuses("colour: red\n", "a.yaml:1:1: no setting \"colour\"");
  r4_error e;
  r4_settings *s = settings_case("");
  assert_int_equal(settings_case_read(s, "a: 1\n", &e), R4_E_ARGUMENT);
  assert_string_equal(e.text, "a.yaml:1:1: no setting \"a\""); /* "tau" has little to do with it */
  r4_settings_free(s);
  refuses("colour: {}\n", "a.yaml:1:1: no setting \"colour\"");
  refuses("colour: []\n", "a.yaml:1:1: no setting \"colour\"");
  refuses("base: b.yaml\n", "no setting \"base\"");
  refuses("epochs: 3\nepochs: 4\n", "a.yaml:2:1: epochs is set at a.yaml:1:1 already");
  refuses("data.seed: 3\ndata: {seed: 4}\n", "a.yaml:2:8: data.seed is set at a.yaml:1:1 already");
  refuses("decay_at: []\ndecay_at: []\n", "a.yaml:2:1: decay_at is set at a.yaml:1:1 already");
}

static void test_numbers_are_strict(void **state)
{
  (void)state;
  static const char *const whole[] = {
    "20x", "nan", "0x10", "1e3", "2.0", "+5", "010", "1_000", "99999999999999999999"};
  static const char *const real[] = {"20x", "nan", ".nan", "inf", "-.inf", "0x1p3",
                                     "1e",  "e5",  ".",    "-.",  "1,5",   "1e999"};
  char text[80], expected[160];
  for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) {
    snprintf(text, sizeof text, "\n epochs:  %s", whole[k]);
    snprintf(expected, sizeof expected,
             "a.yaml:2:11: epochs is \"%s\", expected a whole number from 0 to 1000000000", whole[k]);
    refuses(text, expected);
  }
  for (size_t k = 0; k < sizeof real / sizeof *real; k++) {
    snprintf(text, sizeof text, "rate: %s", real[k]);
    snprintf(expected, sizeof expected, "a.yaml:1:7: rate is \"%s\", expected a number from 0 on", real[k]);
    refuses(text, expected);
  }
  refuses("epochs:\n", "a.yaml:1:8: epochs is empty, expected a whole number");
  refuses("epochs: \"3\"\n", "a.yaml:1:9: epochs is in quotes, expected a whole number");
  refuses("epochs: {a: 1}\n", "a.yaml:1:9: epochs is a map, expected a whole number");
  refuses("epochs: [1]\n", "a.yaml:1:9: epochs is a list, expected a whole number");
}

static void test_ranges(void **state)
{
  (void)state;
  refuses("epochs: -1\n", "epochs is \"-1\", expected a whole number from 0 to 1000000000");
  refuses("seed: -1\n", "seed is \"-1\", expected a whole number from 0 on");
  refuses("seed: 9007199254740993\n", "seed is \"9007199254740993\"");
  refuses("data.val: 0.91\n", "data.val is \"0.91\", expected a number from 0 to 0.9");
  refuses("delta: -0.1\n", "delta is \"-0.1\", expected a number from 0 on");
  r4_settings_free(settings_case("data.val: 0.9\nrange: [-3, 3]\n"));
}

static void test_words(void **state)
{
  (void)state;
  refuses("drop_last: yes\n", "a.yaml:1:12: drop_last is \"yes\", expected true or false");
  refuses("select: first\n", "a.yaml:1:9: select is \"first\", expected last, avg, worst or loss");
  refuses("select: \"\"\n", "a.yaml:1:9: select is empty, expected last, avg");
  refuses("data.from:\n", "a.yaml:1:11: data.from is empty, expected text");
  refuses("data.from: null\n", "a.yaml:1:12: data.from is null, expected text");
  refuses("data.from: \"a\\0b\"\n", "a.yaml:1:12: a zero byte");
  refuses_set("data.from=\xff", "--set: data.from is \"\\xff\", expected text in UTF-8");
  refuses_set("data.from=\xc0\x80", "expected text in UTF-8");
  refuses_set("data.from=\xed\xa0\x80", "expected text in UTF-8");
}

static void assert_word(const char *word)
{
  char assignment[64], line[64];
  r4_settings *s = settings_case("lambda: 3\n");
  r4_setting_value v;
  snprintf(assignment, sizeof assignment, "lambda=%s", word);
  snprintf(line, sizeof line, "\nlambda: %s\n", word);
  assert_int_equal(r4_settings_set(s, assignment, "--set", NULL), R4_OK);
  assert_int_equal(r4_settings_get(s, "lambda", &v, NULL), R4_OK);
  assert_string_equal(v.text, word);
  char *text = r4_settings_text(s);
  assert_non_null(strstr(text, line));
  r4_string_free(text);
  r4_settings_free(s);
}

static void test_words_in_place_of_a_number(void **state)
{
  (void)state;
  assert_word("default");
  assert_word("auto");
  refuses("lambda: defaults\n", "expected a number from 0 on, default or auto");
  refuses("lambda_r3: auto\n", "expected a number from 0 on or default");
  refuses("eps: default\n", "eps is \"default\", expected a number from 0 on");
}

static void test_lists(void **state)
{
  (void)state;
  refuses("decay_at: three\n", "a.yaml:1:11: decay_at is \"three\", expected a list of numbers from 0 on");
  refuses("decay_at: \"3\"\n", "a.yaml:1:11: decay_at is in quotes, expected a list of numbers from 0 on");
  refuses("decay_at:\n", "a.yaml:1:10: decay_at is empty, expected a list");
  refuses("decay_at:\n  - 3\n  - x\n", "a.yaml:3:5: decay_at is \"x\", expected a list of numbers");
  refuses("decay_at: [[3]]\n", "a.yaml:1:12: a list or map within a list");
  refuses("class_weights: [1, -1]\n", "a.yaml:1:20: class_weights is \"-1\"");
  refuses("class_weights: even\n",
          "class_weights is \"even\", expected a list of numbers from 0 on, auto, balanced or none");
  refuses("decay_at: balanced\n", "decay_at is \"balanced\", expected a list of numbers from 0 on");
  refuses_set(
    "class_weights=even",
    "--set: class_weights is \"even\", expected a list of numbers from 0 on, auto, balanced or none");
  refuses_set("class_weights=nan", "--set: class_weights is \"nan\"");
  refuses_set("decay_at=1,", "--set: decay_at is empty");
  refuses_set("decay_at=1 2", "--set: decay_at is \"1 2\"");
  r4_settings *s = settings_case("decay_at: 7\n"); /* as in --set */
  assert_int_equal(s->values.decay_at.n, 1);
  r4_settings_free(s);
  s = settings_case("data.mask_values: 2,3\n");
  assert_int_equal(s->values.data.mask_values.n, 2);
  assert_true(s->values.data.mask_values.v[1] == 3);
  r4_settings_free(s);
  s = settings_case("decay_at: [1, 2, 3]\n");
  assert_int_equal(r4_settings_set(s, "decay_at=[4, 5]", "--set", NULL), R4_OK);
  assert_int_equal(s->values.decay_at.n, 2);
  assert_true(s->values.decay_at.v[1] == 5);
  assert_int_equal(r4_settings_set(s, "decay_at=", "--set", NULL), R4_OK);
  assert_int_equal(s->values.decay_at.n, 0);
  r4_settings_free(s);

  s = settings_case("class_weights: balanced\n");
  assert_string_equal(s->values.class_weights.word, "balanced");
  char *text = r4_settings_text(s);
  assert_non_null(strstr(text, "\nclass_weights: balanced\n"));
  r4_settings_free(settings_case(text));
  r4_string_free(text);
  assert_int_equal(r4_settings_set(s, "class_weights=1,2", "--set", NULL), R4_OK);
  assert_null(s->values.class_weights.word);
  assert_int_equal(r4_settings_set(s, "class_weights=balanced", "--set", NULL), R4_OK);
  assert_int_equal(s->values.class_weights.n, 0);
  r4_settings_free(s);

  char many[8 * REALS_MOST] = "class_weights=1";
  for (int k = 1; k < REALS_MOST; k++) strncat(many, ",1", sizeof many - strlen(many) - 1);
  s = settings_case("");
  assert_int_equal(r4_settings_set(s, many, "--set", NULL), R4_OK);
  assert_int_equal(s->values.class_weights.n, REALS_MOST);
  r4_settings_free(s);
  strncat(many, ",1", sizeof many - strlen(many) - 1);
  refuses_set(many, "--set: class_weights has more than 256 numbers");
}

static void test_assignments(void **state)
{
  (void)state;
  refuses_set("epochs", "--set: \"epochs\" has no value, expected key=value");
  refuses_set("epoch=3", "--set: no setting \"epoch\"; did you mean epochs?");
  refuses_set("epochs=x", "--set: epochs is \"x\", expected a whole number from 0");
  refuses_set("epochs= 3", "--set: epochs is \" 3\"");
  refuses_set("epochs=", "--set: epochs is empty");
  refuses_set("rate=-", "--set: rate is \"-\"");
  r4_settings *s = settings_case("epochs: 3\n");
  assert_int_equal(r4_settings_set(s, "epochs=4", "--set", NULL), R4_OK);
  assert_int_equal(r4_settings_set(s, "epochs=5", "--set", NULL), R4_OK);
  assert_int_equal(s->values.epochs, 5);
  assert_int_equal(r4_settings_set(s, "data=a=b", "--set", NULL), R4_OK);
  assert_string_equal(s->values.data.name, "a=b");
  r4_settings_free(s);
}

static void test_yaml_that_settings_cannot_have(void **state)
{
  (void)state;
  refuses("epochs: &a 3\n", "a.yaml:1:9: an anchor");
  refuses("epochs: *a\n", "a.yaml:1:9: an alias");
  refuses("epochs: !!int 3\n", "a.yaml:1:9: a tag");
  refuses("%TAG ! tag:x,2000:\n---\nepochs: 3\n", "a %TAG directive");
  refuses("epochs: 3\n---\nepochs: 4\n", "a.yaml:2:1: a second document");
  refuses("- 1\n", "a.yaml:1:1: expected lines of the form \"key: value\"");
  refuses("hello\n", "a.yaml:1:1: expected lines of the form \"key: value\"");
  refuses("? [a]\n: 1\n", "a.yaml:1:3: a key is a list or a map");
  refuses("net: \"dense\n", "a.yaml:2:1: found unexpected end of stream while scanning a quoted scalar");
  refuses("net: b: c\n", "a.yaml:1:7: mapping values are not allowed in this context, expected YAML");
  refuses("data: \xff\n", "a.yaml: byte 6: ");
  char deep[400] = "";
  for (int k = 0; k < 30; k++) strncat(deep, "{eval: ", 8);
  refuses(deep, "a.yaml:1:9: no setting \"eval.eval\"");
  char longest[300];
  memset(longest, 'k', sizeof longest);
  memcpy(longest + sizeof longest - 4, ": 1", 4);
  refuses(longest, "a.yaml:1:1: no setting \"kkkk");
}

/* ---- Other files ---- */

static void write_file(const char *name, const char *text)
{
  FILE *f = fopen(scratch_path(name), "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
}

static r4_status read_file(r4_settings *s, const char *name, r4_error *e)
{
  return r4_settings_read(s, scratch_path(name), e);
}

static void test_base(void **state)
{
  (void)state;
  r4_error e;
  mkdir(scratch_path("inner"), 0777);
  write_file("root.yaml", "epochs: 1\nbatch: 2\nrate: 3\ndecay_at: [1, 2]\n");
  write_file("inner/middle.yaml", "epochs: 4\nbatch: 5\nbase: ../root.yaml\n");
  write_file("leaf.yaml", "epochs: 6\nbase: inner/middle.yaml\ndecay_at: [3]\n");
  r4_settings *s = settings_case("");
  if (read_file(s, "leaf.yaml", &e)) fail_msg("%s", e.text);
  assert_int_equal(s->values.epochs, 6);
  assert_int_equal(s->values.batch, 5);
  assert_true(s->values.rate == 3);
  assert_int_equal(s->values.decay_at.n, 1);
  r4_settings_free(s);
}

static void refuses_file(const char *name, const char *text, const char *expected)
{
  r4_error e = {0};
  r4_settings *s = settings_case("");
  write_file(name, text);
  assert_error(&e, read_file(s, name, &e), expected);
  r4_settings_free(s);
}

static void test_bad_base(void **state)
{
  (void)state;
  write_file("b.yaml", "base: a.yaml\n");
  refuses_file("a.yaml", "base: ./b.yaml\n", "b.yaml: base leads back to ");
  refuses_file("c.yaml", "base: c.yaml\n", "c.yaml: base leads back to ");
  refuses_file("d.yaml", "base: none.yaml\n", "none.yaml: opening: No such file");
  refuses_file("e.yaml", "base: [a]\n", "e.yaml:1:7: base is not a name");
  refuses_file("f.yaml", "base: b.yaml\nbase: b.yaml\n", "f.yaml:2:1: base is set at ");
  refuses_file("g.yaml", "base: .\n", "is a folder, expected a file");
  refuses_file("h.yaml", "base:\n", "h.yaml:1:6: base is not a name");
  refuses_file("j.yaml", "{a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}\n",
               "j.yaml:1:33: maps are nested too deeply");
  for (char k = 'a'; k <= 'z'; k++) {
    char name[] = "x-a.yaml", text[] = "base: x-a.yaml\n";
    name[2] = k, text[8] = (char)(k + 1);
    write_file(name, text);
  }
  refuses_file("x-a.yaml", "base: x-b.yaml\n", "more than 16 files are each the base of the next");
  char *large = malloc((1 << 20) + 2);
  memset(large, '#', (1 << 20) + 1);
  large[(1 << 20) + 1] = 0;
  refuses_file("i.yaml", large, "i.yaml: more than 1048576 bytes");
  free(large);
}

/* ---- Text ---- */

static void test_any_text_reads_back(void **state)
{
  (void)state;
  static const char *const texts[] = {"",
                                      "plain",
                                      "a \"quoted\" \\ one",
                                      "two\nlines\n",
                                      " spaces ",
                                      "tab\there",
                                      "\x01\x7f",
                                      "é",
                                      "日本 \U0001f600",
                                      "\xc2\x85\u00a0 \u2028 \u2029",
                                      "\ufeff\ufffe\uffff",
                                      "#no: [comment]",
                                      "null"};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    char assignment[128];
    r4_error e;
    r4_settings *s = settings_case(""), *again = settings_case("");
    snprintf(assignment, sizeof assignment, "data=%s", texts[k]);
    assert_int_equal(r4_settings_set(s, assignment, "--set", NULL), R4_OK);
    char *text = r4_settings_text(s);
    if (settings_case_read(again, text, &e)) fail_msg("%s\n%s", e.text, text);
    assert_string_equal(again->values.data.name, texts[k]);
    r4_string_free(text);
    r4_settings_free(s);
    r4_settings_free(again);
  }
}

/* Bits of reals survive, and YAML 1.1 readers see numbers: an exponent comes with a point. */
static void test_reals_read_back(void **state)
{
  (void)state;
  static const struct {
    double value;
    const char *text;
  } reals[] = {{0.1, "rate: 0.1\n"},
               {1e-5, "rate: 1.0e-05\n"},
               {1e22, "rate: 1.0e+22\n"},
               {2.5e-9, "rate: 2.5e-09\n"},
               {1. / 3, "rate: 0.3333333333333333\n"},
               {5e-324, "rate: 4.94065645841247e-324\n"},
               {1.7976931348623157e308, "rate: 1.7976931348623157e+308\n"},
               {3, "rate: 3\n"}};
  for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) {
    r4_settings *s = settings_case(""), *again = settings_case("");
    s->values.rate = reals[k].value;
    char *text = r4_settings_text(s);
    if (!strstr(text, reals[k].text)) fail_msg("%s is missing in\n%s", reals[k].text, text);
    assert_int_equal(settings_case_read(again, text, NULL), R4_OK);
    assert_memory_equal(&again->values.rate, &reals[k].value, sizeof(double));
    r4_string_free(text);
    r4_settings_free(s);
    r4_settings_free(again);
  }
}

/* ---- Memory ---- */

/* A copy has values, origins and layers of its own. */
static void test_copies(void **state)
{
  (void)state;
  r4_settings *s = settings_case("");
  assert_int_equal(r4_settings_set(s, "data=mine", "here", NULL), R4_OK);
  assert_int_equal(r4_settings_set(s, "decay_at=[2, 3]", "here", NULL), R4_OK);
  r4_settings *copy = settings_copy(s);
  assert_non_null(copy);
  char *was = r4_settings_text(s);
  assert_int_equal(r4_settings_set(s, "data=other", "there", NULL), R4_OK);
  r4_settings_free(s);
  char *text = r4_settings_text(copy);
  assert_string_equal(text, was);
  assert_non_null(strstr(text, "mine"));
  assert_string_equal(setting_label(copy, "data").text, "data (here)");
  r4_string_free(text);
  r4_string_free(was);
  r4_settings_free(copy);
}

/* A file with a base, a change, the text and a copy; R4_E_MEMORY if an allocation fails. */
static r4_status use(void)
{
  char *text = NULL;
  r4_settings *copy = NULL;
  r4_error e = {.status = R4_OK};
  r4_settings *s = r4_settings_new();
  r4_status status = s ? read_file(s, "leaf.yaml", &e) : R4_E_MEMORY;
  if (!status) status = r4_settings_set(s, "data=digits", "--set", &e);
  if (!status && !(text = r4_settings_text(s))) status = R4_E_MEMORY;
  if (!status && !(copy = settings_copy(s))) status = R4_E_MEMORY;
  r4_settings_free(copy);
  r4_string_free(text);
  r4_settings_free(s);
  return status;
}

static void test_failing_memory(void **state)
{
  (void)state;
  for (long n = 1;; n++) {
    r4_mem_fail_at(n);
    r4_status status = use();
    bool reached = r4_mem_count() >= n;
    r4_mem_fail_at(0);
    assert_int_equal(status, reached ? R4_E_MEMORY : R4_OK);
    if (!reached) break;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_table_holds_together),
    cmocka_unit_test(test_each_setting_reads_back),
    cmocka_unit_test(test_values_arrive),
    cmocka_unit_test(test_nothing_is_defaults),
    cmocka_unit_test(test_keys_are_known),
    cmocka_unit_test(test_numbers_are_strict),
    cmocka_unit_test(test_ranges),
    cmocka_unit_test(test_words),
    cmocka_unit_test(test_words_in_place_of_a_number),
    cmocka_unit_test(test_lists),
    cmocka_unit_test(test_assignments),
    cmocka_unit_test(test_yaml_that_settings_cannot_have),
    cmocka_unit_test(test_base),
    cmocka_unit_test(test_bad_base),
    cmocka_unit_test(test_copies),
    cmocka_unit_test(test_any_text_reads_back),
    cmocka_unit_test(test_reals_read_back),
    cmocka_unit_test(test_failing_memory),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
