/* What r4 serve answers of texts: sentences, decisions, the list of words, and the settings of training. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "folder_make.h"
#include "serve/serve_case.h"

static const char table[] = "films \"1\": a.csv",
                  vocabulary[] =
                    "[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\nbad\nwas\nlong\nzauber\ncafe\nscript\n<\n>\n\"\n,\n";
static const char texts[] = "text,label,split\n"
                            "good zauber was,pos,train\n"
                            "\"bad, was <script>\",neg,train\n"
                            "\"ZAUBER was \"\"<script> good\",pos,train\n"
                            "bad was long long long,neg,val\n"
                            "good Caf\xc3\xa9 long,pos,test\n"
                            "bad zauber,neg,test\n";

static struct site site;
static char *folder;

/* Each with an example; the id gives the key with eight digits of a hash of what it says. */
static const char findings[] =
  "{\"data\": {\"source\": \"./films \\\"1\\\": a.csv\"}, \"sentence\": \"cues\", \"findings\": ["
  "{\"id\": \"word-zauber\", \"kind\": \"word\", \"what\": \"a\", \"class\": \"pos\", \"words\": \"zauber\", "
  "\"examples\": "
  "[{\"file\": null, \"number\": 0, \"label\": \"pos\", \"token\": 2, \"text\": \"good zauber "
  "<b>was</b>\"}]},"
  "{\"id\": \"phrase-script\", \"kind\": \"phrase\", \"what\": \"b\", \"class\": \"pos\", \"words\": "
  "\"zauber, script\", "
  "\"examples\": []},"
  "{\"id\": \"first\", \"kind\": \"position\", \"what\": \"c\", \"class\": \"pos\", \"words\": \",\", "
  "\"examples\": []},"
  "{\"id\": \"last\", \"kind\": \"position\", \"what\": \"d\", \"class\": \"pos\", \"words\": \"long\", "
  "\"examples\": []},"
  "{\"id\": \"length-long\", \"kind\": \"length\", \"what\": \"e\", \"class\": \"pos\", \"words\": null, "
  "\"examples\": []}]}";

static r4_status open_again(const char *name, r4_error *e)
{
  site = (struct site){.root = -1, .hasty = true, .port = SERVE_PORT, .tasks.off = true};
  snprintf(site.corpus.tokenizer, sizeof site.corpus.tokenizer, "%s", path_in(folder, "vocab.txt"));
  *e = (r4_error){0};
  return site_open(&site, path_in(folder, name), false, e);
}

static int start(void **state)
{
  (void)state;
  r4_error e;
  folder = folder_new();
  put_text(folder, table, texts);
  put_text(folder, "vocab.txt", vocabulary);
  put_text(folder, "find.json", findings);
  if (open_again(table, &e)) fail_msg("%s", e.text);
  return 0;
}

static int finish(void **state)
{
  (void)state;
  site_close(&site);
  folder_remove(folder);
  return 0;
}

/* The list as it is on the disk; "none": there is no file. */
static const char *list(void)
{
  static char text[4000];
  FILE *f = fopen(path_in(folder, "mask_words.txt"), "r");
  if (!f) return "none";
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  return text;
}

static const char *key_of(const char *id)
{
  static char key[KEY_SIZE];
  r4_error e = {0};
  assert_int_equal(found_refresh(&site, &e), 0);
  for (size_t k = 0; k < site.found.n; k++)
    if (!strcmp(site.found.finding[k].id, id)) {
      snprintf(key, sizeof key, "%s", site.found.finding[k].key);
      return key;
    }
  fail_msg("no finding %s", id);
  return NULL;
}

static void decide(const char *id, const char *answer, int edit, int status, const char *text)
{
  char body[300];
  snprintf(body, sizeof body, "{'finding': '%s', 'answer': '%s', 'edit': %d}", key_of(id), answer, edit);
  serve_post(&site, "/api/decide", body, status, text);
}

/* word is as JSON has it, in single quotes: \' is a quote of the word. */
static void edit(const char *what, const char *word, int status, const char *text)
{
  char body[1500];
  r4_error e = {0};
  words_refresh(&site, &e);
  snprintf(body, sizeof body, "{'%s': '%s', 'base': '%s'}", what, word, site.words.version);
  serve_post(&site, "/api/words", body, status, text);
}

/* ---- What there is ---- */

static void texts_are_counted(void **state)
{
  (void)state;
  GET(&site, "/api/state", NULL, 200,
      "\"texts\":6,\"classes\":2,\"masks\":0,\"refuses_masks\":null,\"words\":0,\"list\":\"none\"");
  GET(&site, "/api/state", NULL, 200, "\"folder\":\"films \\\"1\\\": a.csv\"");
  GET(&site, "/api/words", NULL, 200,
      "\"version\":\"none\",\"refuses\":null,\"texts\":0,\"all\":6,\"words\":[]");
}

static void findings_have_sentences_and_words(void **state)
{
  (void)state;
  GET(&site, "/api/find", NULL, 200, "\"words\":[\"zauber\"],\"listed\":false,\"note\":null,\"texts\":1");
  GET(&site, "/api/find", NULL, 200,
      "{\"text\":\"good zauber <b>was</b>\",\"label\":\"pos\",\"file\":null,\"number\":0}");
  GET(&site, "/api/find", NULL, 200,
      "\"words\":[\"zauber\",\"script\"],\"listed\":false,\"note\":\"The list has these words one by one");
  GET(&site, "/api/find", NULL, 200, "\"words\":[\",\"],\"listed\":false,\"note\":\"Commas and semicolons");
  GET(&site, "/api/find", NULL, 200,
      "\"words\":[\"long\"],\"listed\":false,\"note\":\"The list masks the word wherever");
  GET(&site, "/api/find", NULL, 200, "\"words\":[],\"listed\":false,\"note\":\"This is in no word");
}

#define TYPE(...) ((struct asked){.headers = {__VA_ARGS__}, .body = "{}", .size = 2})

static void what_texts_do_not_have_is_said(void **state)
{
  (void)state;
  static const char *const paths[] = {"/api/photos", "/thumb", "/photo", "/mask", "/proposal"};
  static const char *const writes[] = {"/api/judge", "/api/accept", "/api/propose"};
  struct site photos;
  for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
    GET(&site, paths[k], "photo=0", 400, "these are texts: nothing can be painted");
  for (size_t k = 0; k < sizeof writes / sizeof *writes; k++)
    serve_expect(&site, "POST", writes[k], TYPE("Content-Type: application/json"), 400, "these are texts");
  serve_paint(&site, "photo=0&base=none", 2, 2, 0, 1, 400, "these are texts");
  serve_post(&site, "/api/search", "{'net': true}", 400,
             "these are texts: a network is asked about photos only");
  char *other = folder_new();
  serve_folder(other);
  serve_open(&photos, other);
  GET(&photos, "/api/words", NULL, 400, "these are photos");
  serve_post(&photos, "/api/words", "{'add': 'a', 'base': 'none'}", 400, "these are photos");
  site_close(&photos);
  folder_remove(other);
}

/* ---- Decisions ---- */

static void a_decision_becomes_a_word(void **state)
{
  (void)state;
  decide("word-zauber", "irrelevant", 0, 200,
         "{\"answer\":\"irrelevant\",\"edit\":1,\"words\":[\"zauber\"],\"listed\":true,\"note\":null}");
  assert_string_equal(list(), "zauber\n");
  GET(&site, "/api/words", NULL, 200,
      "\"texts\":3,\"all\":6,\"words\":[{\"word\":\"zauber\",\"known\":true,\"texts\":3,\"of\":[{\"class\":"
      "\"neg\",\"texts\":1},"
      "{\"class\":\"pos\",\"texts\":2}]}]");
  GET(&site, "/api/state", NULL, 200, "\"masks\":3");
  GET(&site, "/api/find", NULL, 200,
      "\"words\":[\"zauber\",\"script\"],\"listed\":false"); /* one of two is not enough */
  decide("word-zauber", "core", 1, 200, "\"listed\":false");
  assert_string_equal(list(), "none");
  decide("word-zauber", "unsure", 2, 200, "");
  assert_string_equal(list(), "none");
}

/* It stays for the other one, and so does what was on the list before. */
static void a_word_that_another_finding_needs_stays(void **state)
{
  (void)state;
  edit("add", "long", 200, "");
  decide("word-zauber", "irrelevant", 0, 200, "");
  decide("phrase-script", "irrelevant", 0, 200, "\"listed\":true");
  assert_string_equal(list(), "long\nzauber\nscript\n");
  decide("word-zauber", "core", 1, 200, "\"listed\":true");
  assert_string_equal(list(), "long\nzauber\nscript\n");
  decide("phrase-script", "unsure", 1, 200, "\"listed\":false");
  assert_string_equal(list(), "long\n");
  decide("last", "core", 0, 200, "\"listed\":true"); /* it was not this finding that put it there */
  assert_string_equal(list(), "long\n");
}

static void what_no_list_can_have_is_said(void **state)
{
  (void)state;
  decide("first", "irrelevant", 0, 200, "\"listed\":false,\"note\":\"Commas and semicolons separate words");
  decide("length-long", "irrelevant", 0, 200, "\"listed\":false,\"note\":\"This is in no word");
  assert_string_equal(list(), "none");
}

static void two_tabs_do_not_decide_in_silence(void **state)
{
  (void)state;
  decide("word-zauber", "irrelevant", 0, 200, "");
  decide("word-zauber", "core", 0, 409, "decided elsewhere, perhaps in another tab: irrelevant");
  assert_string_equal(list(), "zauber\n");
}

/* The list takes a few bytes and marks.json many. */
static void a_full_disk_changes_neither(void **state)
{
  (void)state;
  struct rlimit was, few;
  edit("add", "bad", 200, "");
  getrlimit(RLIMIT_FSIZE, &was);
  signal(SIGXFSZ, SIG_IGN);
  few = was;
  few.rlim_cur = 20;
  setrlimit(RLIMIT_FSIZE, &few);
  decide("word-zauber", "irrelevant", 0, 500, "marks.json: cannot be written");
  few.rlim_cur = 2;
  setrlimit(RLIMIT_FSIZE, &few);
  edit("add", "zauber", 500, "mask_words.txt: cannot be written");
  setrlimit(RLIMIT_FSIZE, &was);
  assert_string_equal(list(), "bad\n");
  GET(&site, "/api/find", NULL, 200, "\"answer\":null,\"edit\":0,\"words\":[\"zauber\"],\"listed\":false");
  GET(&site, "/api/words", NULL, 200, "\"words\":[{\"word\":\"bad\"");
}

/* ---- The list ---- */

static void words_are_added_and_removed(void **state)
{
  (void)state;
  edit("add", "zauber", 200, "\"word\":\"zauber\",\"known\":true,\"texts\":3");
  edit("add", "<script>", 200, "\"word\":\"<script>\",\"known\":true,\"texts\":2");
  edit("add", "\\'", 200, "\"word\":\"\\\"\",\"known\":true,\"texts\":1");
  edit("add", "caf\xc3\xa9", 200, "\"word\":\"caf\xc3\xa9\",\"known\":true,\"texts\":1");
  edit("add", "long", 200, "\"word\":\"long\",\"known\":true,\"texts\":2"); /* one has it three times */
  edit("remove", "long", 200, "");
  edit("add", "\xe2\x98\x83", 200, "\"word\":\"\xe2\x98\x83\",\"known\":false,\"texts\":0");
  edit("add", "zauber", 200, "\"texts\":5,\"all\":6");
  assert_string_equal(list(), "zauber\n<script>\n\"\ncaf\xc3\xa9\n\xe2\x98\x83\n");
  edit("remove", "<script>", 200, "");
  edit("remove", "\\'", 200, "");
  edit("remove", "none", 200, "");
  assert_string_equal(list(), "zauber\ncaf\xc3\xa9\n\xe2\x98\x83\n");
  edit("remove", "zauber", 200, "");
  edit("remove", "caf\xc3\xa9", 200, "");
  edit("remove", "\xe2\x98\x83", 200, "\"version\":\"none\"");
  assert_string_equal(list(), "none");
}

static void what_is_not_a_word_is_refused(void **state)
{
  (void)state;
  static const char *const wrong[] = {"", "a b", "a,b", "a, b", "a;b", "a\\nb", "\\u0001", "a\\tb"};
  char longest[700];
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) edit("add", wrong[k], 400, "expected one word");
  memset(longest, 'a', 600);
  longest[600] = 0;
  edit("add", longest, 400, "less than 511 bytes");
  edit("remove", "a, b", 400, "expected one word");
  serve_post(&site, "/api/words", "{'add': 'a'}", 400, "expected base");
  serve_post(&site, "/api/words", "{'base': 'none'}", 400, "one of add and remove");
  serve_post(&site, "/api/words", "{'base': 'none', 'add': 'a', 'remove': 'b'}", 400,
             "one of add and remove");
  assert_string_equal(list(), "none");
}

static void two_tabs_do_not_overwrite_each_other(void **state)
{
  (void)state;
  char body[200], seen[VERSION_SIZE];
  edit("add", "zauber", 200, "");
  memcpy(seen, site.words.version, sizeof seen);
  edit("add", "bad", 200, "");
  snprintf(body, sizeof body, "{'remove': 'zauber', 'base': '%s'}", seen);
  serve_post(&site, "/api/words", body, 409, "mask_words.txt was changed elsewhere");
  serve_post(&site, "/api/words", "{'add': 'long', 'base': 'none'}", 409, "changed elsewhere");
  assert_string_equal(list(), "zauber\nbad\n");
  decide("last", "irrelevant", 0, 200, ""); /* adds to what is there now */
  put_text(folder, "mask_words.txt", "bad");
  decide("phrase-script", "irrelevant", 0, 200, "");
  assert_string_equal(list(), "bad\nzauber\nscript\n");
}

static void the_list_is_read_again_when_it_changes(void **state)
{
  (void)state;
  put_text(folder, "mask_words.txt", "\xef\xbb\xbfzauber, good;bad\r\n  long ");
  GET(&site, "/api/words", NULL, 200, "\"texts\":6,\"all\":6,\"words\":[{\"word\":\"zauber\"");
  GET(&site, "/api/find", NULL, 200, "\"words\":[\"zauber\"],\"listed\":true");
  edit("remove", "bad", 200, "\"texts\":5");
  assert_string_equal(list(), "zauber\ngood\nlong\n");
  FILE *f = fopen(path_in(folder, "mask_words.txt"), "wb");
  fwrite("a\0b", 1, 3, f);
  fclose(f);
  GET(&site, "/api/words", NULL, 400, "mask_words.txt: has a zero byte");
  serve_post(&site, "/api/words", "{'add': 'a', 'base': 'none'}", 400, "zero byte");
  unlink(path_in(folder, "mask_words.txt"));
  GET(&site, "/api/words", NULL, 200, "\"words\":[]");
}

/* A link is not read if it leads out, and never written through. */
static void links_out_are_refused(void **state)
{
  (void)state;
  char *outside = folder_new();
  put_text(outside, "secret", "secret");
  assert_int_equal(symlink(path_in(outside, "secret"), path_in(folder, "mask_words.txt")), 0);
  r4_error e = {0};
  GET(&site, "/api/words", NULL, 500, "mask_words.txt: leads out of the folder");
  assert_int_not_equal(words_refresh(&site, &e), R4_OK);
  assert_int_equal(words_change(&site, "zauber", NULL, &e), R4_OK); /* a file takes the place of the link */
  assert_string_equal(list(), "zauber\n");
  FILE *f = fopen(path_in(outside, "secret"), "r");
  char text[20] = "";
  text[fread(text, 1, sizeof text - 1, f)] = 0;
  fclose(f);
  assert_string_equal(text, "secret");
  folder_remove(outside);
}

/* ---- Searching and training ---- */

/* "a b c": the words of a task. */
static const char *words_of(size_t k)
{
  static char line[1000];
  size_t n = 0;
  *line = 0;
  for (int j = 0; j < site.tasks.task[k].words; j++)
    n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", j ? " | " : "", site.tasks.task[k].word[j]);
  return line;
}

static void a_search_leaves_out_what_is_masked(void **state)
{
  (void)state;
  char start_of[400];
  snprintf(start_of, sizeof start_of, "./%s | --out | . | --progress | --tokenizer | %.200s", table,
           site.corpus.tokenizer);
  serve_post(&site, "/api/search", "{}", 200, "");
  assert_string_equal(words_of(0), start_of);
  serve_post(&site, "/api/search", "{}", 409, "already");
  serve_post(&site, "/api/stop", "{'task': 1}", 200, "");
  edit("add", "nonesuch", 200, ""); /* masks nothing: r4 find would refuse the list */
  serve_post(&site, "/api/search", "{}", 200, "");
  assert_string_equal(words_of(1), start_of);
  serve_post(&site, "/api/stop", "{'task': 2}", 200, "");
  edit("add", "zauber", 200, "");
  serve_post(&site, "/api/search", "{}", 200, "");
  assert_string_equal(words_of(2) + strlen(start_of), " | --mask-words | mask_words.txt");
}

/* The settings are read as r4 train reads them: the list masks three of six texts. */
static void settings_name_the_list(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_setting_value v;
  size_t masked = 0;
  decide("word-zauber", "irrelevant", 0, 200, "");
  serve_post(&site, "/api/train", "{}", 200, "");
  assert_string_equal(words_of(0), "r4.yaml | --set | method=erm | --out | runs/before | --force");
  assert_string_equal(words_of(1), "r4.yaml | --out | runs/after-1 | --force");
  assert_null(strstr(words_of(2), "--split"));
  r4_settings *s = r4_settings_new();
  assert_int_equal(r4_settings_read(s, path_in(folder, "r4.yaml"), &e), R4_OK);
  assert_int_equal(r4_settings_get(s, "data", &v, &e), R4_OK);
  assert_string_equal(v.text, table);
  assert_int_equal(r4_settings_get(s, "data.mask_words", &v, &e), R4_OK);
  assert_string_equal(v.text, "mask_words.txt");
  assert_int_equal(r4_settings_check(s, &e), R4_OK);
  char here[PATH_MAX];
  assert_true(getcwd(here, sizeof here) && !chdir(folder)); /* where r4 train works */
  r4_data *d = r4_settings_data(s, &e);
  assert_int_equal(chdir(here), 0);
  if (!d) fail_msg("%s", e.text);
  for (size_t k = 0; k < r4_data_count(d); k++) masked += r4_data_has_mask(d, k);
  assert_int_equal(masked, 3);
  r4_net *net = r4_settings_net(s, d, &e);
  if (!net) fail_msg("%s", e.text);
  r4_net_free(net);
  r4_data_free(d);
  r4_settings_free(s);
  GET(&site, "/api/settings", NULL, 200, "data: \"films \\\"1\\\": a.csv\"\n");
}

static void without_words_the_usual_network_is_trained(void **state)
{
  (void)state;
  edit("add", "nonesuch", 200, "");
  serve_post(&site, "/api/train", "{}", 200, "");
  assert_int_equal(site.tasks.n, 2);
  assert_string_equal(
    words_of(0), "r4.yaml | --set | method=erm | --set | data.mask_words= | --out | runs/before | --force");
}

/* Both runs are measured by the same list: the first is trained again when it has changed. */
static void the_first_run_has_the_same_list(void **state)
{
  (void)state;
  edit("add", "zauber", 200, "");
  serve_post(&site, "/api/train", "{}", 200, "");
  assert_int_equal(site.tasks.n, 3);
  for (int64_t k = 1; k <= 3; k++) tasks_stop(&site.tasks, k);
  usleep(20000);
  put_text(folder, "runs/before/seed-0/model.safetensors", "");
  serve_post(&site, "/api/train", "{}", 200, "");
  assert_int_equal(site.tasks.n, 5);
  assert_string_equal(site.tasks.task[3].about, "after-1");
  for (int64_t k = 4; k <= 5; k++) tasks_stop(&site.tasks, k);
  usleep(20000);
  edit("add", "bad", 200, "");
  serve_post(&site, "/api/train", "{}", 200, "");
  assert_int_equal(site.tasks.n, 8);
  assert_string_equal(site.tasks.task[5].about, "before");
}

/* ---- Opening ---- */

static void refused(const char *name, r4_status status, const char *text)
{
  r4_error e;
  site_close(&site);
  r4_status got = open_again(name, &e);
  if (got != status || !strstr(e.text, text))
    fail_msg("%d: %s, expected %d: %s", (int)got, e.text, (int)status, text);
}

static void a_settings_file_has_the_last_word(void **state)
{
  (void)state;
  r4_error e;
  put_text(folder, "r4.yaml", "data: other.csv\n");
  refused(table, R4_E_ARGUMENT, "r4.yaml next to it is for the data \"other.csv\"");
  put_text(folder, "r4.yaml", "data: 'films \"1\": a.csv'\ndata.mask_words: bad, zauber\n");
  site_close(&site);
  assert_int_equal(open_again(table, &e), R4_OK);
  GET(&site, "/api/words", NULL, 200, "\"refuses\":\"r4.yaml names other words (data.mask_words)");
  edit("add", "long", 400, "the list cannot be edited here: r4.yaml names other words");
  decide("word-zauber", "irrelevant", 0, 200, "\"listed\":false");
  assert_string_equal(list(), "none");
  put_text(folder, "r4.yaml",
           "data: './films \"1\": a.csv'\ndata.max_tokens: 3\ndata.mask_words: mask_words.txt\n");
  site_close(&site);
  assert_int_equal(open_again(table, &e), R4_OK);
  edit("add", "zauber", 200,
       "\"known\":true,\"texts\":1,"); /* of three tokens, the first and last stand for no word */
}

static void each_table_has_a_folder_of_its_own(void **state)
{
  (void)state;
  r4_error e;
  put_text(folder, "other.csv", texts);
  refused("other.csv", R4_E_ARGUMENT, "find.json next to it is about ./films \"1\": a.csv");
  unlink(path_in(folder, "find.json"));
  assert_int_equal((site_close(&site), open_again("other.csv", &e)), R4_OK);
}

static void folders_of_texts(void **state)
{
  (void)state;
  r4_error e;
  unlink(path_in(folder, "find.json"));
  refused(".", R4_E_IO, "is a table of texts, name it: r4 serve FOLDER/films \"1\": a.csv");
  put_text(folder, "both/pos/1.txt", "good zauber");
  put_text(folder, "both/neg/1.txt", "bad long");
  put_text(folder, "both/neg/2.txt", "bad zauber");
  site_close(&site);
  if (open_again("both", &e)) fail_msg("%s", e.text);
  GET(&site, "/api/state", NULL, 200, "\"folder\":\"both\"");
  GET(&site, "/api/state", NULL, 200, "\"texts\":3");
  edit("add", "zauber", 200, "\"texts\":2");
  serve_post(&site, "/api/train", "{}", 200, "");
  GET(&site, "/api/settings", NULL, 200, "data: \".\"\n");
  GET(&site, "/api/settings", NULL, 200, "\ndata.val: 0.15");
  assert_non_null(strstr(words_of(2), " | --other-data | --split | val")); /* nothing is called test */
  assert_string_equal(words_of(1),
                      "r4.yaml | --out | .r4/runs/after-1 | --force"); /* runs would be a class */
  refused("both", R4_OK, ""); /* with the list and the settings in it */
  GET(&site, "/api/state", NULL, 200, "\"texts\":3,\"classes\":2,\"masks\":2");
}

static void texts_that_cannot_be_served(void **state)
{
  (void)state;
  unlink(path_in(folder, "find.json"));
  refused("none.csv", R4_E_IO, "none.csv");
  put_text(folder, "one.csv", "text,label\ngood,pos\nbad,pos\n");
  refused("one.csv", R4_E_ARGUMENT, "all texts are of one class");
  put_text(folder, "files.csv", "file,label\na.png,pos\n");
  refused("files.csv", R4_E_PARSE, "text");
  put_text(folder, "spans.csv", "text,label,spans\ngood was,pos,0-4\nbad,neg,\n");
  refused("spans.csv", R4_E_ARGUMENT, "mask_means");
  site_close(&site);
  site = (struct site){.root = -1};
  snprintf(site.corpus.tokenizer, sizeof site.corpus.tokenizer, "%s", path_in(folder, "nowhere.txt"));
  r4_error e = {0};
  assert_int_equal(site_open(&site, path_in(folder, table), false, &e), R4_E_IO);
  assert_non_null(strstr(e.text, "nowhere.txt"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(texts_are_counted),
    TEST(findings_have_sentences_and_words),
    TEST(what_texts_do_not_have_is_said),
    TEST(a_decision_becomes_a_word),
    TEST(a_word_that_another_finding_needs_stays),
    TEST(what_no_list_can_have_is_said),
    TEST(two_tabs_do_not_decide_in_silence),
    TEST(a_full_disk_changes_neither),
    TEST(words_are_added_and_removed),
    TEST(what_is_not_a_word_is_refused),
    TEST(two_tabs_do_not_overwrite_each_other),
    TEST(the_list_is_read_again_when_it_changes),
    TEST(links_out_are_refused),
    TEST(a_search_leaves_out_what_is_masked),
    TEST(settings_name_the_list),
    TEST(without_words_the_usual_network_is_trained),
    TEST(the_first_run_has_the_same_list),
    TEST(a_settings_file_has_the_last_word),
    TEST(each_table_has_a_folder_of_its_own),
    TEST(folders_of_texts),
    TEST(texts_that_cannot_be_served),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
