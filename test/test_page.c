/* The page of "r4 report": what it is made of, that names are never markup, and what it says where something is
 * missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "page_case.h"
#include "report/html.h"

static const struct page_case PLAIN = {.run_name = {"erm", "r3", "cert-r4"}, .class_name = {"ill", "well"}};

#define HOSTILE "</script><script>alert(\"1\")</script>&amp;'\xc3\xa4\x01\xff<!--"

static struct page_case plain(void)
{
  return PLAIN;
}

static size_t count_of(const char *text, const char *part)
{
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
  return n;
}

static void assert_has(const char *page, const char *part)
{
  if (!strstr(page, part)) fail_msg("the page lacks \"%s\"", part);
}

static void assert_lacks(const char *page, const char *part)
{
  const char *at = strstr(page, part);
  if (at) fail_msg("the page has \"%s\": %.80s", part, at);
}

/* ---- The writer ---- */

static void text_is_escaped(void **state)
{
  (void)state;
  struct html h = {0};
  html_add(&h, "<b title=\"%s\">%s</b>%d%%%zu %.1f %.3g%c%lld", "a\"b'c", HOSTILE, -3, (size_t)7, 0.25, 1e-9,
           'x', -5LL);
  const char *nothing = NULL;
  html_add(&h, "%s", getenv("R4_NEVER_SET") ? "x" : nothing);
  char *text = text_take(&h.text);
  assert_string_equal(
    text, "<b title=\"a&quot;b&#39;c\">&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"
          "&amp;amp;&#39;\xc3\xa4\\x01\\xff&lt;!--</b>-3%7 0.2 1e-09x-5");
  r4_string_free(text);
}

static void json_ends_no_script(void **state)
{
  (void)state;
  struct html h = {0};
  html_json(&h, "id", "{\"a\":\"</script><!--&\"}");
  char *text = text_take(&h.text);
  assert_string_equal(
    text, "<script type=\"application/json\" id=\"id\">{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}"
          "</script>\n");
  r4_string_free(text);
}

/* Of RFC 4648, and the digest of "abc" of FIPS 180. */
static void bytes_are_base64(void **state)
{
  (void)state;
  static const char *const expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (size_t n = 0; n <= 6; n++) {
    struct html h = {0};
    html_png(&h, (const uint8_t *)"foobar", n);
    char *text = text_take(&h.text);
    assert_string_equal(text + strlen("data:image/png;base64,"), expected[n]);
    r4_string_free(text);
  }
  struct html h = {0};
  html_digest(&h, "abc");
  char *text = text_take(&h.text);
  assert_string_equal(text, "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  r4_string_free(text);
}

static void figures_are_text(void **state)
{
  (void)state;
  assert_string_equal(figure_share(0.97449).s, "97.4");
  assert_string_equal(figure_share(0. / 0.).s, "none");
  assert_string_equal(figure_real(1 / 0., 3).s, "inf");
  assert_string_equal(figure_share_sd((r4_mean_sd){0.5, 0.01}, 2).s, "50.0 \u00b1 1.0");
  assert_string_equal(figure_share_sd((r4_mean_sd){0.5, 0}, 1).s, "50.0");
  assert_string_equal(figure_real_sd((r4_mean_sd){1 / 0., 0. / 0.}, 4, 3).s, "inf");
}

/* ---- Structure ---- */

static bool is_void(const char *name)
{
  static const char *const list[] = {"meta", "img", "br", "input"};
  for (size_t k = 0; k < sizeof list / sizeof *list; k++)
    if (!strcmp(name, list[k])) return true;
  return false;
}

/* Attributes are name="value", with nothing that runs or is fetched. */
static void check_attributes(const char *tag, const char *end)
{
  for (const char *at = tag; at < end;) {
    at += strcspn(at, " >");
    if (at >= end || *at == '>') break;
    at += strspn(at, " /");
    if (!strncmp(at, "on", 2) || !strncmp(at, "style=", 6)) fail_msg("%.60s", at);
    if (!strncmp(at, "src=", 4) && strncmp(at, "src=\"data:image/png;base64,", 27)) fail_msg("%.60s", at);
    if (!strncmp(at, "href=", 5) && strncmp(at, "href=\"#", 7)) fail_msg("%.60s", at);
    const char *quote = strpbrk(at, "\"> ");
    if (quote && *quote == '"') at = strchr(quote + 1, '"') + 1;
  }
}

/* Every element that is opened is closed, in order. */
static void assert_balanced(const char *page)
{
  char open[64][24];
  size_t depth = 0;
  for (const char *at = strchr(page, '<'); at; at = strchr(at + 1, '<')) {
    char name[24] = "";
    bool closes = at[1] == '/';
    if (at[1] == '!') continue;
    size_t n = strspn(at + 1 + closes, "abcdefghijklmnopqrstuvwxyz0123456789");
    if (!n || n >= sizeof name) fail_msg("not a tag: %.60s", at);
    memcpy(name, at + 1 + closes, n);
    const char *end = strchr(at, '>');
    assert_non_null(end);
    if (!closes) check_attributes(at + 1, end);
    if (closes && (!depth || strcmp(open[--depth], name))) fail_msg("closes %s: %.60s", name, at - 60);
    if (!closes && end[-1] != '/' && !is_void(name)) {
      assert_true(depth < 64);
      memcpy(open[depth++], name, sizeof name);
    }
    at = end;
    if (!closes && (!strcmp(name, "script") || !strcmp(name, "style")))
      at = strstr(end, !strcmp(name, "style") ? "</style" : "</script") - 1;
  }
  assert_int_equal(depth, 0);
}

/* What stands between two texts, in new memory. */
static char *between(const char *page, const char *from, const char *to)
{
  const char *a = strstr(page, from);
  assert_non_null(a);
  a += strlen(from);
  const char *b = strstr(a, to);
  assert_non_null(b);
  return strndup(a, (size_t)(b - a));
}

/* The policy names style and script by what they are. */
static void assert_policy(const char *page)
{
  char *part[] = {between(page, "<style>", "</style>"), between(page, "<script>", "</script>")};
  for (int k = 0; k < 2; k++) {
    struct html h = {0};
    html_digest(&h, part[k]);
    char *digest = text_take(&h.text);
    assert_has(page, digest);
    r4_string_free(digest);
    free(part[k]);
  }
  assert_has(page, "default-src 'none'; img-src data:;");
}

static void page_is_whole(void **state)
{
  (void)state;
  struct page_case c = plain();
  static const char *const note = "Seed 3 is left out.", *const command = "r4 train 'a b'";
  page_case_make(&c);
  char *page = page_case_write(
    &c, &(r4_report_options){.title = "T", .notes = 1, .note = &note, .commands = 1, .command = &command});
  assert_balanced(page);
  assert_policy(page);
  static const char *const parts[] = {"<h1>T</h1>",
                                      "<main id=\"main\">",
                                      "<nav aria-label",
                                      "<footer>",
                                      "Seed 3 is left out.",
                                      "r4 train &#39;a b&#39;",
                                      "id=\"groups\"",
                                      "id=\"swap\"",
                                      "id=\"curves\"",
                                      "id=\"heat\"",
                                      "id=\"fragility\"",
                                      "id=\"settings\"",
                                      "<p class=\"verdict\">Trained without masks: <b class=\"",
                                      " accuracy, with masked content exchanged <b>",
                                      "examples that cert-r4 classifies correctly, <b>",
                                      "logs of 2 of 2"};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) assert_has(page, parts[k]);
  assert_int_equal(count_of(page, "<h1"), 1);
  assert_int_equal(count_of(page, "<caption>"), count_of(page, "<table>"));
  assert_int_equal(count_of(page, "<img"), count_of(page, "<img alt=\""));
  assert_int_equal(count_of(page, "<svg class=\"plot\""), count_of(page, "role=\"img\" aria-label=\""));
  assert_int_equal(count_of(page, "<figure data-file"), count_of(page, "<summary>Numbers"));
  assert_lacks(page, "http://www.w3.org/1999");
  r4_mem_free(page);
  page_case_free(&c);
}

static void names_are_text(void **state)
{
  (void)state;
  struct page_case c = {.run_name = {HOSTILE, "\" onload=\"x", "=1+1"}, .class_name = {HOSTILE, "' x='"}};
  static const char *const hostile = HOSTILE;
  page_case_make(&c);
  char *page = page_case_write(
    &c,
    &(r4_report_options){.title = HOSTILE, .notes = 1, .note = &hostile, .commands = 1, .command = &hostile});
  assert_balanced(page);
  assert_policy(page);
  assert_int_equal(count_of(page, "<script"), 2); /* figures, and ours */
  assert_int_equal(count_of(page, "</script"), 2);
  assert_lacks(page, "alert(\"1\")</");
  assert_lacks(page, "\" onload=\"");
  for (const char *at = page; *at; at++)
    if ((unsigned char)*at < ' ' && *at != '\n') fail_msg("control character %d in the page", *at);
  r4_mem_free(page);
  page_case_free(&c);
}

/* ---- What is missing ---- */

static void pages_say_what_is_missing(void **state)
{
  (void)state;
  struct page_case c = plain();
  c.no_masks = true;
  page_case_make(&c);
  char *page = page_case_write(&c, NULL);
  assert_balanced(page);
  assert_has(page, "No test example has a mask: there is no box");
  assert_has(page, "width of the bounds, cannot be shown");
  r4_mem_free(page);
  page_case_free(&c);

  c = plain();
  c.no_images = true;
  page_case_make(&c);
  page = page_case_write(&c, NULL);
  assert_has(page, "The examples are neither images nor texts");
  r4_mem_free(page);
  c.run[1].subject.net = NULL;
  c.run[2].other_data = "others <b>";
  page = page_case_write(&c, NULL);
  assert_balanced(page);
  assert_has(page, "others &lt;b&gt;");
  assert_has(page, "not comparable");
  r4_mem_free(page);
  page_case_free(&c);
}

/* Sections list what the table of figures has for their topic, and what no other section has is in one of its own. */
static void figures_come_from_the_table(void **state)
{
  (void)state;
  struct page_case c = plain();
  page_case_make(&c);
  char *page = page_case_write(&c, NULL);
  assert_has(page, "<th scope=\"row\">group average</th><td class=\"n\"></td><td class=\"n\">");
  assert_has(page, "<th scope=\"row\">all examples</th>");
  assert_has(page, "<th scope=\"col\" class=\"n\">kappa, core, mean</th>");
  assert_has(page, "<h2 id=\"other-figures-title\">Other figures</h2>");
  assert_has(page, "<th scope=\"col\" class=\"n\">AUC</th>");
  assert_lacks(strstr(page, ">AUC</th>") + 1, ">AUC</th>"); /* in its own section alone */
  assert_lacks(page, "core sensitivity, noise"); /* not measured */
  r4_mem_free(page);
  for (size_t k = 0; k < PAGE_SEEDS; k++) {
    r4_value *v = &c.measured[k].value[c.measured[k].values++];
    *v = (r4_value){.figure = r4_figure_find("core_sensitivity"), .key = "core_sensitivity.1", .value = -0.25};
  }
  page = page_case_write(&c, NULL);
  assert_has(page, "<th scope=\"col\" class=\"n\">core sensitivity, noise 1</th>");
  assert_has(page, "<td class=\"n\">-0.25 \u00b1 0</td>");
  r4_mem_free(page);
  for (size_t k = 0; k < PAGE_SEEDS; k++)
    while (r4_figure_describe(c.measured[k].value[c.measured[k].values - 1].figure).topic != R4_TOPIC_ACCURACY)
      c.measured[k].values--;
  page = page_case_write(&c, NULL);
  assert_lacks(page, "Other figures"); /* nothing would be in it */
  r4_mem_free(page);
  page_case_free(&c);
}

/* What the swap test would have found: this share of the correct predictions is lost. */
static void lose(struct page_case *c, double share)
{
  for (r4_measured *m = c->measured; m < c->measured + PAGE_SEEDS; m++) {
    for (size_t g = 0; g < m->swapped->groups; g++) m->swapped->lost[g] = share * (double)m->swapped->found[g];
    for (size_t k = 0; k < m->values; k++)
      if (!strcmp(m->value[k].key, "swap_lost_share")) m->value[k].value = share;
  }
}

/* The first sentence, for what the swap test says of the runs, for nets that give one answer, and for many runs. */
static void the_answer_comes_first(void **state)
{
  (void)state;
  struct page_case c = plain();
  page_case_make(&c);
  lose(&c, 0.25);
  char *page = page_case_write(&c, NULL);
  assert_has(page, "masks: <b class=\"wrong\">erm uses the shortcut</b>. It loses <b>25.0\u00a0%</b> of its");
  r4_mem_free(page);
  lose(&c, 0.05);
  page = page_case_write(&c, NULL);
  assert_has(page, "<b class=\"little\">cert-r4 uses the shortcut a little</b>. It loses <b>5.0\u00a0%</b>");
  r4_mem_free(page);
  lose(&c, 0);
  page = page_case_write(&c, NULL);
  assert_has(page, "<b class=\"right\">r3 does not use the shortcut</b>. It loses <b>0.0\u00a0%</b>");
  r4_mem_free(page);
  for (size_t k = 0; k < PAGE_SEEDS; k++) c.measured[k].metrics.answers.constant = true;
  page = page_case_write(&c, NULL);
  assert_has(page, "<b class=\"wrong\">erm collapsed to one class</b>. The worst group of erm has <b>");
  assert_lacks(page, "use the shortcut</b>");
  r4_mem_free(page);
  page_case_free(&c);
}

/* Pictures under the answer, curves and settings last; the name of the data; a table of more than two runs. */
static void the_order_is_the_reader_s(void **state)
{
  (void)state;
  static const char *const order[] = {"<p class=\"origin\">", "<section id=\"answer\"", "<section id=\"heat\"",
                                      "<section id=\"groups\"", "<section id=\"swap\"", "<section id=\"fragility\"",
                                      "<section id=\"curves\"", "<section id=\"settings\""};
  struct page_case c = plain();
  page_case_make(&c);
  char *page = page_case_write(&c, NULL);
  const char *at = page;
  for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
    const char *next = strstr(at, order[k]);
    if (!next) fail_msg("no %s after the ones before", order[k]);
    at = next;
  }
  assert_int_equal(strstr(page, "All runs, in per cent") != NULL, PAGE_RUNS > 2);
  r4_mem_free(page);
  page_case_free(&c);
}

static void many_groups_are_few_rows(void **state)
{
  (void)state;
  struct page_case c = plain();
  c.groups = 1000;
  page_case_make(&c);
  for (size_t k = 0; k < PAGE_SEEDS; k++)
    for (size_t g = 0; g < 1000; g++) c.measured[k].metrics.group_accuracy[g] = (double)(g * 7 % 1000) / 1000;
  char *page = page_case_write(&c, NULL);
  assert_has(page, "1000 groups: shown are the 12 worst and the 6 best of erm.");
  assert_has(page, "No test examples, and so no figure: "); /* 40 examples are in 40 groups */
  assert_has(page, " and 957 more.</p>");
  assert_true(count_of(page, "<tr>") < 300);
  r4_mem_free(page);
  page_case_free(&c);
}

static void bad_calls_are_refused(void **state)
{
  (void)state;
  struct page_case c = plain();
  r4_error e = {0};
  page_case_make(&c);
  assert_error(&e, r4_report_write(c.run, 0, c.d, NULL, scratch_path("x.html"), &e), "needs a run");
  assert_error(&e, r4_report_write(c.run, 3, c.d, NULL, scratch_path("nowhere/x.html"), &e),
               "nowhere/x.html");
  c.run[2].measured = NULL;
  assert_error(&e, r4_report_write(c.run, 3, c.d, NULL, scratch_path("x.html"), &e), "run 3 of the report");
  assert_false(file_exists(scratch_path("x.html")));
  page_case_free(&c);
}

/* The old page stays whatever fails, and nothing is lost. */
static void allocations_may_fail(void **state)
{
  (void)state;
  struct page_case c = plain();
  page_case_make(&c);
  const char *file = scratch_path("old.html");
  assert_int_equal(file_write(file, "old", 3, NULL), R4_OK);
  char path[512];
  snprintf(path, sizeof path, "%s", file);
  size_t failed = 0;
  for (long n = 1; n < 4000; n += n < 40 ? 1 : 131) {
    r4_error e = {0};
    r4_mem_fail_at(n);
    r4_status s = r4_report_write(c.run, PAGE_RUNS, c.d, NULL, path, &e);
    r4_mem_fail_at(0);
    uint8_t *text = NULL;
    size_t size;
    assert_int_equal(file_read(path, 1 << 24, &text, &size, NULL), R4_OK);
    if (s) assert_int_equal(size, 3);
    failed += s != R4_OK;
    r4_mem_free(text);
    if (s) assert_true(*e.text);
    if (!s) assert_int_equal(file_write(path, "old", 3, NULL), R4_OK);
  }
  assert_true(failed > 40);
  page_case_free(&c);
}

/* ---- Fragility ---- */

/* Fragility of some: as that of all, if they are the same. */
static void some_examples_are_enough(void **state)
{
  (void)state;
  struct page_case c = plain();
  static r4_metrics some;
  r4_error e = {0};
  page_case_make(&c);
  const r4_metrics *all = &c.measured[0].metrics;
  r4_measure_options how = {.eps = 0.1, .batch = 16, .kappa = 7};
  assert_int_equal(r4_evaluate(c.net, c.weights, c.d, &how, &some, &e), R4_OK);
  assert_int_equal(some.masked_examples, 7);
  assert_true(some.accuracy == all->accuracy);
  assert_true(some.kappa_masked_max <= all->kappa_masked_max && some.kappa_masked_max > 0);
  how.kappa = 40;
  assert_int_equal(r4_evaluate(c.net, c.weights, c.d, &how, &some, &e), R4_OK);
  assert_true(some.kappa_masked_max == all->kappa_masked_max);
  page_case_free(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(text_is_escaped),
    cmocka_unit_test(json_ends_no_script),
    cmocka_unit_test(bytes_are_base64),
    cmocka_unit_test(figures_are_text),
    cmocka_unit_test(page_is_whole),
    cmocka_unit_test(names_are_text),
    cmocka_unit_test(pages_say_what_is_missing),
    cmocka_unit_test(figures_come_from_the_table),
    cmocka_unit_test(the_answer_comes_first),
    cmocka_unit_test(the_order_is_the_reader_s),
    cmocka_unit_test(many_groups_are_few_rows),
    cmocka_unit_test(bad_calls_are_refused),
    cmocka_unit_test(allocations_may_fail),
    cmocka_unit_test(some_examples_are_enough),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
