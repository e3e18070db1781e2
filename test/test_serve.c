/* What r4 serve answers, request by request: who may ask, addresses, sizes, decisions and lists. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder_make.h"
#include "serve/serve_case.h"

static struct site site;
static char *folder;

static int start(void **state)
{
  (void)state;
  folder = folder_new();
  serve_folder(folder);
  serve_open(&site, folder);
  return 0;
}

static int finish(void **state)
{
  (void)state;
  site_close(&site);
  folder_remove(folder);
  return 0;
}

#define HEADERS(...) ((struct asked){.headers = {__VA_ARGS__}})

/* ---- Who may ask ---- */

static void the_token_is_needed(void **state)
{
  (void)state;
  char address[64], cookie[80], wrong[80];
  GET(&site, "/api/state", NULL, 200, "\"photos\":6");
  serve_expect(&site, "GET", "/api/state", HEADERS("X-R4-Token"), 403, "token");
  serve_expect(&site, "GET", "/", HEADERS("X-R4-Token"), 403, "token");
  serve_expect(&site, "GET", "/api/state", HEADERS("X-R4-Token: "), 403, "token");
  serve_expect(&site, "GET", "/api/state", HEADERS("X-R4-Token: 0123456789abcdef0123456789abcdef"), 403,
               "token");
  snprintf(wrong, sizeof wrong, "X-R4-Token: %s0", site.token);
  serve_expect(&site, "GET", "/api/state", HEADERS(wrong), 403, "token");
  snprintf(address, sizeof address, "token=%s", site.token);
  serve_expect(&site, "GET", "/", (struct asked){address, {"X-R4-Token"}, NULL, 0}, 200, "<title>");
  serve_expect(&site, "GET", "/api/state", (struct asked){address, {"X-R4-Token"}, NULL, 0}, 403, "token");
  snprintf(cookie, sizeof cookie, "Cookie: a=b; r4-%d=%s", SERVE_PORT, site.cookie);
  serve_expect(&site, "GET", "/api/state", HEADERS("X-R4-Token", cookie), 200, "");
  snprintf(wrong, sizeof wrong, "Cookie: r4-%d=%s", SERVE_PORT, site.token);
  serve_expect(&site, "GET", "/api/state", HEADERS("X-R4-Token", wrong), 403, "token");
  serve_expect(&site, "POST", "/api/stop", HEADERS("X-R4-Token", cookie, "Content-Type: application/json"),
               403, "token");
  cookie[strlen(cookie) - 1] = 0;
  serve_expect(&site, "GET", "/api/state", HEADERS("X-R4-Token", cookie), 403, "token");
  assert_string_not_equal(site.token, site.cookie);
  assert_int_equal(strlen(site.token), 32);
}

/* Every address of the table, and names of none. */
static void nothing_is_answered_without_it(void **state)
{
  (void)state;
  static const char *const paths[] = {"/",           "/serve.js", "/serve.css",    "/api/state", "/api/find",
                                      "/api/photos", "/api/log",  "/api/settings", "/thumb",     "/photo",
                                      "/mask",       "/proposal", "/report",       "/api/words", "/none"};
  static const char *const writes[] = {"/api/decide",  "/api/judge", "/api/accept", "/api/search",
                                       "/api/propose", "/api/train", "/api/stop",   "/api/words", "/mask"};
  for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
    serve_expect(&site, "GET", paths[k], HEADERS("X-R4-Token"), 403, "token");
  for (size_t k = 0; k < sizeof writes / sizeof *writes; k++) {
    serve_expect(&site, k < 8 ? "POST" : "PUT", writes[k],
                 HEADERS("X-R4-Token", "Content-Type: application/json"), 403, "token");
    serve_expect(&site, k < 8 ? "POST" : "PUT", writes[k],
                 HEADERS("Origin", "Content-Type: application/json"), 403, "origin");
  }
}

static void only_this_machine_is_asked(void **state)
{
  (void)state;
  static const char *const hosts[] = {"Host",
                                      "Host: evil.example:8080",
                                      "Host: 127.0.0.1",
                                      "Host: 127.0.0.1:80",
                                      "Host: 127.0.0.1:80800",
                                      "Host: 127.0.0.1.evil.example:8080",
                                      "Host: localhost:8080@evil.example"};
  for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++)
    serve_expect(&site, "GET", "/api/state", HEADERS(hosts[k]), 403, "name");
  serve_expect(&site, "GET", "/api/state", HEADERS("Host: localhost:8080"), 200, "");
  serve_expect(&site, "GET", "/api/state", HEADERS("Host: [::1]:8080"), 200, "");
}

static void other_origins_are_refused(void **state)
{
  (void)state;
  static const char *const origins[] = {"Origin: null", "Origin: http://evil.example",
                                        "Origin: http://127.0.0.1:8081", "Origin: https://127.0.0.1:8080",
                                        "Origin: http://127.0.0.1:8080.evil.example"};
  for (size_t k = 0; k < sizeof origins / sizeof *origins; k++) {
    serve_expect(&site, "POST", "/api/stop", HEADERS(origins[k], "Content-Type: application/json"), 403,
                 "origin");
    serve_expect(&site, "GET", "/api/state", HEADERS(origins[k]), 403, "origin");
  }
  serve_expect(&site, "GET", "/api/state", HEADERS("Origin"), 200, "");
  serve_expect(&site, "GET", "/api/state", HEADERS("Sec-Fetch-Site: cross-site"), 403, "site");
  serve_expect(&site, "GET", "/api/state", HEADERS("Sec-Fetch-Site: same-site"), 403, "site");
  serve_expect(&site, "GET", "/api/state", HEADERS("Sec-Fetch-Site: same-origin"), 200, "");
  serve_expect(&site, "GET", "/", HEADERS("Sec-Fetch-Site: cross-site"), 200,
               ""); /* a link, with the token */
}

/* ---- What is asked ---- */

static void methods_types_and_names(void **state)
{
  (void)state;
  GET(&site, "/api/none", NULL, 404, "nothing of this name");
  GET(&site, "//", NULL, 404, "");
  GET(&site, "/../serve.html", NULL, 404, "");
  GET(&site, "/api/decide", NULL, 405, "only POST");
  serve_expect(&site, "DELETE", "/mask", HEADERS("A: b"), 405, "DELETE");
  serve_expect(&site, "POST", "/", HEADERS("A: b"), 405, "only GET");
  serve_expect(&site, "POST", "/api/decide", HEADERS("Content-Type: text/plain"), 415, "application/json");
  serve_expect(&site, "POST", "/api/decide", HEADERS("Content-Type"), 415, "application/json");
  serve_expect(&site, "POST", "/api/decide", HEADERS("Content-Type: application/jsonx"), 415,
               "application/json");
  GET(&site, "/serve.js", NULL, 200, "import");
  serve_expect(&site, "HEAD", "/api/state", HEADERS("A: b"), 200, "");
}

static void numbers_are_checked(void **state)
{
  (void)state;
  static const char *const wrong[] = {
    "photo=6", "photo=-1", "photo=", "photo=1x", "photo=0x1", "photo=9999999999999999999",
    "photo= ", "side=3"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) GET(&site, "/thumb", wrong[k], 400, "photo");
  GET(&site, "/thumb", "photo=1&side=9999", 400, "side: expected a whole number from 16 to 1024");
  GET(&site, "/thumb", "photo=1&x=1001", 400, "x: expected");
  GET(&site, "/api/photos", "from=-1", 400, "from");
  GET(&site, "/api/photos", "n=501", 400, "n: expected");
  GET(&site, "/thumb", "photo=5&side=16&x=1000&y=1000&w=0&h=0", 200, "PNG");
}

static void bodies_are_checked(void **state)
{
  (void)state;
  char *large = calloc(MOST_JSON + 2, 1);
  memset(large, ' ', MOST_JSON + 1);
  const struct asked asked = {
    .headers = {"Content-Type: application/json"}, .body = large, .size = MOST_JSON + 1};
  serve_expect(&site, "POST", "/api/decide", asked, 413, "more than 1048576 bytes");
  free(large);
  static const char *const wrong[] = {"", "{", "[1,", "{'a': 1, 'a': 2}", "nul", "{'a': '\xff'}"};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    serve_post(&site, "/api/decide", wrong[k], 400, "the request:");
  serve_post(&site, "/api/decide", "[]", 404, "no such finding");
  serve_post(&site, "/api/decide", "{'finding': 'tag', 'answer': 'core', 'edit': 0}", 404, "no such finding");
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'maybe', 'edit': 0}", 400,
             "answer: expected");
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'edit': 0}", 400, "answer: expected");
  serve_post(&site, "/api/judge", "{'finding': 'tag-7377fabe', 'photo': 0.5, 'answer': ''}", 400,
             "photo: expected");
  serve_post(&site, "/api/judge", "{'finding': 'tag-7377fabe', 'photo': 6, 'answer': ''}", 400,
             "photo: expected");
  serve_post(&site, "/api/judge", "{'finding': 'tag-7377fabe', 'photo': 1, 'answer': 'x'}", 400,
             "answer: expected");
}

static void runs_have_plain_names(void **state)
{
  (void)state;
  static const char *const wrong[] = {"run=", "run=..", "run=a/b", "run=.", "run=a%2fb", NULL};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    GET(&site, "/report", wrong[k], 400, "run: expected");
    GET(&site, "/api/log", wrong[k], 400, "run: expected");
  }
  GET(&site, "/report", "run=before", 404, "runs/before/report.html");
  put_text(folder, "runs/before/report.html", "<p>it");
  put_text(folder, "runs/before/config.yaml", "a: b");
  struct answer a = serve_ask(&site, "GET", "/report", (struct asked){.query = "run=before"});
  assert_true(a.status == 200 && a.report && a.size == 5);
  answer_clear(&a);
  GET(&site, "/api/state", NULL, 200, "{\"name\":\"before\",\"done\":false,\"report\":true}");
}

/* ---- The folder ---- */

static void links_out_are_refused(void **state)
{
  (void)state;
  char *other = folder_new(), text[300];
  put_text(other, "secret", "{\"version\": 1}");
  snprintf(text, sizeof text, "%s/secret", other);
  assert_int_equal(mkdir(path_in(folder, "runs"), 0777), 0);
  assert_int_equal(mkdir(path_in(folder, "runs/x"), 0777), 0);
  assert_int_equal(symlink(text, path_in(folder, "runs/x/report.html")), 0);
  GET(&site, "/report", "run=x", 500, "leads out");
  assert_int_equal(unlink(path_in(folder, "images/1.png")) + symlink(text, path_in(folder, "images/1.png")),
                   0);
  GET(&site, "/photo", "photo=1", 500, "leads out");
  GET(&site, "/thumb", "photo=1", 500, "leads out");
  assert_int_equal(symlink(text, path_in(folder, "r4.yaml")), 0);
  GET(&site, "/api/settings", NULL, 500, "leads out");
  assert_int_equal(unlink(path_in(folder, "find.json")) + symlink(text, path_in(folder, "find.json")), 0);
  GET(&site, "/api/find", NULL, 500, "leads out");
  folder_remove(other);
}

/* What is written replaces a link, and does not follow it; a folder that is a link is not written to. */
static void nothing_is_written_outside(void **state)
{
  (void)state;
  char *other = folder_new(), text[300];
  struct stat about;
  put_text(other, "marks", "{\"version\": 1, \"findings\": [], \"photos\": []}");
  snprintf(text, sizeof text, "%s/marks", other);
  assert_int_equal(symlink(other, path_in(folder, "masks")), 0);
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 500, "masks/1.png");
  r4_error e = {0};
  assert_int_equal(place_write(&site, "masks/1.png", "x", 1, &e), R4_E_IO);
  assert_int_equal(place_remove(&site, "masks/marks", &e), R4_E_IO);
  assert_int_equal(place_write(&site, "../x", "x", 1, &e), R4_E_IO);
  assert_int_equal(place_write(&site, "masks/../x", "x", 1, &e), R4_E_IO);
  assert_int_equal(place_write(&site, "/tmp/x", "x", 1, &e), R4_E_IO);
  assert_int_not_equal(stat(path_in(other, "1.png"), &about), 0);
  assert_int_equal(symlink(text, path_in(folder, ".r4-serve.part")), 0);
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 0}", 200, "core");
  assert_int_equal(stat(path_in(other, "marks"), &about), 0);
  assert_int_equal(about.st_size, strlen("{\"version\": 1, \"findings\": [], \"photos\": []}"));
  folder_remove(other);
}

static void photos_are_listed_in_pages(void **state)
{
  (void)state;
  GET(&site, "/api/photos", "n=2", 200, "\"file\":\"1.png\"");
  GET(&site, "/api/photos", "from=4&n=1", 200, "[{\"photo\":4,\"file\":\"4.png\"");
  GET(&site, "/api/photos", "from=90", 200, "{\"photos\":[],\"total\":6");
  GET(&site, "/api/photos", "finding=tag-7377fabe&n=1", 200, "[{\"photo\":4,\"file\":\"4.png\"");
  GET(&site, "/api/photos", "finding=tag-7377fabe&from=2&n=1", 200, "\"file\":\"0.png\"");
  serve_post(&site, "/api/judge", "{'finding': 'tag-7377fabe', 'photo': 4, 'answer': 'rejected'}", 200, "");
  GET(&site, "/api/photos", "finding=tag-7377fabe&show=todo", 200, "[{\"photo\":2,");
  GET(&site, "/api/photos", "finding=tag-7377fabe&show=done", 200, "\"said\":\"rejected\"");
  GET(&site, "/api/photos", "finding=tag-7377fabe&show=done", 200, "\"total\":1,\"all\":3,\"todo\":2");
  serve_post(&site, "/api/judge", "{'finding': 'tag-7377fabe', 'photo': 4, 'answer': ''}", 200, "");
  GET(&site, "/api/photos", "finding=tag-7377fabe&show=done", 200, "\"total\":0");
  unlink(path_in(folder, ".r4/proposals/tag-7377fabe/proposals.json"));
  GET(&site, "/api/photos", "finding=tag-7377fabe&n=1", 200,
      "[{\"photo\":0,\"file\":\"0.png\""); /* its examples */
}

static void a_photo_is_sent_once(void **state)
{
  (void)state;
  struct answer a = serve_ask(&site, "GET", "/thumb", (struct asked){.query = "photo=1&side=64"});
  char has[128];
  assert_int_equal(a.status, 200);
  snprintf(has, sizeof has, "If-None-Match: %s", a.etag);
  answer_clear(&a);
  serve_expect(&site, "GET", "/thumb", (struct asked){"photo=1&side=64", {has}, NULL, 0}, 304, "");
  serve_expect(&site, "GET", "/thumb", (struct asked){"photo=1&side=65", {has}, NULL, 0}, 200, "PNG");
  put_grey(folder, "images/1.png", 2, 3, 1, 2);
  serve_expect(&site, "GET", "/thumb", (struct asked){"photo=1&side=64", {has}, NULL, 0}, 200, "PNG");
  put_text(folder, "images/2.png", "not a photo");
  GET(&site, "/photo", "photo=2", 500, "images/2.png: does not start");
  GET(&site, "/thumb", "photo=2", 500, "images/2.png: does not start");
  unlink(path_in(folder, "images/3.png"));
  GET(&site, "/photo", "photo=3", 500, "No such file");
}

/* ---- Decisions ---- */

/* They become names of folders, and words of commands. */
static void names_of_findings_are_plain(void **state)
{
  (void)state;
  struct answer a = serve_ask(&site, "GET", "/api/find", (struct asked){0});
  assert_null(memmem(a.body, a.size, "../bad", 6));
  answer_clear(&a);
  put_text(folder, "find.json",
           "{\"findings\": [{\"id\": \"-x\"}, {\"id\": \"\"}, {\"id\": 1}, {\"id\": \"A\"}, {}, 7]}");
  GET(&site, "/api/find", NULL, 200, "\"findings\":[]");
}

static void decisions_are_kept(void **state)
{
  (void)state;
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'unsure', 'edit': 0}", 200,
             "\"edit\":1");
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 1}", 200,
             "\"edit\":2");
  site_close(&site);
  serve_open(&site, folder);
  GET(&site, "/api/find", NULL, 200, "\"answer\":\"core\",\"edit\":2");
  GET(&site, "/api/find", NULL, 200, "\"sentence\":\"one cue\"");
}

/* A second tab decided first: the other one is told, and does not win. */
static void two_tabs_do_not_overwrite_each_other(void **state)
{
  (void)state;
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'irrelevant', 'edit': 0}", 200, "");
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 0}", 409,
             "irrelevant");
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core'}", 409, "elsewhere");
  GET(&site, "/api/find", NULL, 200, "\"answer\":\"irrelevant\",\"edit\":1");
}

/* A disk that is full: what was there stays. */
static void a_full_disk_loses_nothing(void **state)
{
  (void)state;
  struct rlimit was, small = {.rlim_cur = 40};
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 0}", 200, "");
  getrlimit(RLIMIT_FSIZE, &was);
  small.rlim_max = was.rlim_max;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  struct answer a = serve_ask(&site, "GET", "/api/state", (struct asked){0});
  assert_int_equal(a.status, 200);
  answer_clear(&a);
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'unsure', 'edit': 1}", 500,
             "marks.json: cannot be written");
  setrlimit(RLIMIT_FSIZE, &was);
  GET(&site, "/api/find", NULL, 200, "\"answer\":\"core\",\"edit\":1");
  site_close(&site);
  serve_open(&site, folder);
  GET(&site, "/api/find", NULL, 200, "\"answer\":\"core\",\"edit\":1");
}

/* Also by another program, as git does. */
static void marks_are_read_again_when_they_change(void **state)
{
  (void)state;
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 0}", 200, "");
  put_text(folder, "marks.json", "{\"version\": 1, \"findings\": [], \"photos\": []}");
  GET(&site, "/api/find", NULL, 200, "\"answer\":null,\"edit\":0");
  put_text(folder, "marks.json", "{\"version\": 2, \"findings\": [], \"photos\": []}");
  GET(&site, "/api/find", NULL, 400, "version 1");
  put_text(folder, "marks.json", "{\"version\": 1, \"findings\": [{\"key\": 1}], \"photos\": []}");
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 0}", 400,
             "entry 1");
  r4_error e = {0};
  struct site other = {.root = -1};
  assert_int_equal(site_open(&other, folder, false, &e), R4_E_PARSE);
  assert_non_null(strstr(e.text, "marks.json"));
  site_close(&other);
  char kept[200] = "";
  FILE *f = fopen(path_in(folder, "marks.json"), "r");
  kept[fread(kept, 1, sizeof kept - 1, f)] = 0;
  fclose(f);
  assert_non_null(strstr(kept, "{\"key\": 1}")); /* it is left alone */
}

/* The same id from another search is another finding. */
static void another_search_has_other_findings(void **state)
{
  (void)state;
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 0}", 200, "");
  put_text(folder, "find.json", "{\"findings\": [{\"id\": \"tag\", \"what\": \"other\", \"examples\": []}]}");
  GET(&site, "/api/find", NULL, 200, "\"answer\":null");
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 1}", 404,
             "search again");
  put_text(folder, "find.json", "{\"findings\"");
  GET(&site, "/api/find", NULL, 500, "find.json");
  unlink(path_in(folder, "find.json"));
  GET(&site, "/api/find", NULL, 200, "{\"searched\":false");
}

/* ---- Tasks, which are only listed here ---- */

static void tasks_are_listed_and_bounded(void **state)
{
  (void)state;
  serve_post(&site, "/api/search", "{'net': true}", 200, "{\"task\":1}");
  serve_post(&site, "/api/search", "{}", 409, "already");
  serve_post(&site, "/api/stop", "{'task': 1}", 200, "");
  serve_post(&site, "/api/stop", "{'task': 7}", 404, "no such task");
  GET(&site, "/api/state", NULL, 200, "\"kind\":\"find\",\"state\":\"stopped\"");
  serve_post(&site, "/api/propose", "{'finding': 'tag-7377fabe'}", 200, "{\"task\":0}"); /* they are there */
  unlink(path_in(folder, ".r4/proposals/tag-7377fabe/proposals.json"));
  serve_post(&site, "/api/propose", "{'finding': 'tag-7377fabe'}", 200, "{\"task\":2}");
  serve_post(&site, "/api/propose", "{'finding': 'tag-7377fabe'}", 200,
             "{\"task\":2}"); /* it waits already */
  assert_string_equal(site.tasks.task[1].word[4], "tag");
  serve_post(&site, "/api/train", "{}", 200, "");
  serve_post(&site, "/api/train", "{}", 409, "already");
  GET(&site, "/api/state", NULL, 200, "\"kind\":\"report\",\"state\":\"waiting\"");
  GET(&site, "/api/settings", NULL, 200, "data.mask_means: irrelevant\n");
  serve_post(&site, "/api/stop", "{'task': 3}", 200, "");
  GET(&site, "/api/state", NULL, 200, "not begun, as r4 train before it was not done");
  for (int k = 0; k < 2 * TASKS_MOST; k++) {
    struct task *t = tasks_add(&site.tasks, TASK_FIND, 0, "");
    if (!t) {
      assert_int_equal(k, TASKS_MOST - 1); /* the proposals wait, what is over is forgotten */
      break;
    }
    assert_int_not_equal(k, TASKS_MOST);
  }
  serve_post(&site, "/api/train", "{}", 409, "too much waits");
}

/* Settings are written once, and what they leave out is as the folder needs it. */
static void settings_are_the_users(void **state)
{
  (void)state;
  put_text(folder, "r4.yaml", "mine: true\n");
  serve_post(&site, "/api/train", "{}", 200, "");
  GET(&site, "/api/settings", NULL, 200, "mine: true\n");
  r4_error e = {0};
  struct site other = {.root = -1};
  assert_int_not_equal(site_open(&other, folder, false, &e), R4_OK);
  site_close(&other);
  put_text(folder, "r4.yaml", "data: .\ndata.mask_means: relevant\n");
  serve_open(&other, folder);
  serve_paint(&other, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 400, "data.mask_means");
  site_close(&other);
}

/* ---- Folders that cannot be served ---- */

static void refused(const char *because, bool irrelevant, bool fine)
{
  r4_error e = {0};
  struct site other = {.root = -1};
  r4_status s = site_open(&other, folder, irrelevant, &e);
  if ((s == R4_OK) != fine || (!fine && !strstr(e.text, because))) fail_msg("%d: \"%s\"", s, e.text);
  site_close(&other);
}

/* The settings are those that r4 train knows, and the report measures what is held out. */
static void without_a_test_part_validation_is_reported(void **state)
{
  (void)state;
  r4_error e = {0};
  site_close(&site);
  put_text(folder, "metadata.csv", "file,label\n0.png,cat\n1.png,dog\n2.png,cat\n3.png,dog\n");
  serve_open(&site, folder);
  serve_post(&site, "/api/train", "{}", 200, "");
  r4_settings *s = r4_settings_new();
  if (r4_settings_read(s, path_in(folder, "r4.yaml"), &e)) fail_msg("%s", e.text);
  r4_settings_free(s);
  const struct task *report = site.tasks.task + site.tasks.n - 1;
  assert_int_equal(report->kind, TASK_REPORT);
  assert_string_equal(report->word[report->words - 2], "--split");
  assert_string_equal(report->word[report->words - 1], "val");
}

static void folders_that_cannot_be_served(void **state)
{
  (void)state;
  put_grey(folder, "masks/1.png", SERVE_HEIGHT, SERVE_WIDTH, 255, 0);
  refused("nothing says what white means", false, false);
  refused("", true, true);
  put_text(folder, "metadata.csv", "file,label\n0.png,cat\n1.png,cat\n");
  refused("one class", true, false);
  put_text(folder, "metadata.csv", "file,label\n");
  refused("has no photos", true, false);
  put_text(folder, "metadata.csv", "file,label\nnone.png,cat\n");
  refused("none.png", true, false);
  put_text(folder, "metadata.csv", "file,label\n../x.png,cat\n");
  refused("leaves the folder", true, false);
  unlink(path_in(folder, "metadata.csv"));
  refused("one class", true, false); /* it is images/ */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(the_token_is_needed),
    TEST(nothing_is_answered_without_it),
    TEST(only_this_machine_is_asked),
    TEST(other_origins_are_refused),
    TEST(methods_types_and_names),
    TEST(numbers_are_checked),
    TEST(bodies_are_checked),
    TEST(runs_have_plain_names),
    TEST(links_out_are_refused),
    TEST(nothing_is_written_outside),
    TEST(photos_are_listed_in_pages),
    TEST(a_photo_is_sent_once),
    TEST(names_of_findings_are_plain),
    TEST(decisions_are_kept),
    TEST(two_tabs_do_not_overwrite_each_other),
    TEST(a_full_disk_loses_nothing),
    TEST(marks_are_read_again_when_they_change),
    TEST(another_search_has_other_findings),
    TEST(tasks_are_listed_and_bounded),
    TEST(settings_are_the_users),
    TEST(without_a_test_part_validation_is_reported),
    TEST(folders_that_cannot_be_served),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
