/* Masks in r4 serve: painted, accepted, kept, and never lost to another tab. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* How many columns from the left are white, and the version. */
static size_t columns(size_t photo, char version[VERSION_SIZE])
{
  r4_error e = {0};
  r4_image mask;
  size_t white = 0;
  if (mask_read(&site, photo, &mask, version, &e)) fail_msg("%s", e.text);
  assert_int_equal(mask.width, SERVE_WIDTH);
  for (size_t k = 0; k < mask.width; k++) white += mask.pixel[k] == 255;
  r4_image_clear(&mask);
  return white;
}

static const char *query(const char *format, const char *version)
{
  static char text[200];
  snprintf(text, sizeof text, format, version);
  return text;
}

static void masks_are_painted_and_kept(void **state)
{
  (void)state;
  char version[VERSION_SIZE];
  assert_int_equal(columns(1, version), 0);
  assert_string_equal(version, "none");
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 200, "version");
  assert_int_equal(columns(1, version), 3);
  serve_paint(&site, query("photo=1&base=%s", version), SERVE_WIDTH, SERVE_HEIGHT, 0, 5, 200, "");
  site_close(&site);
  r4_error e = {0};
  if (site_open(&site, folder, false, &e)) fail_msg("%s", e.text); /* what white means is known */
  site.port = SERVE_PORT;
  site.tasks.off = true;
  assert_int_equal(columns(1, version), 5);
  GET(&site, "/api/state", NULL, 200, "\"masks\":1");
  r4_data *d =
    folder_opened(folder, &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT}); /* the reader's, too */
  assert_true(r4_data_has_mask(d, 1));
  assert_false(r4_data_has_mask(d, 0));
  r4_data_free(d);
}

/* An empty mask would say that nothing was marked: there is none. */
static void a_mask_without_white_is_removed(void **state)
{
  (void)state;
  char version[VERSION_SIZE];
  struct stat about;
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 200, "");
  columns(1, version);
  serve_paint(&site, query("photo=1&base=%s", version), SERVE_WIDTH, SERVE_HEIGHT, 0, 0, 200, "\"none\"");
  assert_int_not_equal(stat(path_in(folder, "masks/1.png"), &about), 0);
  GET(&site, "/api/state", NULL, 200, "\"masks\":0");
  serve_paint(&site, "photo=2&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 0, 200, "\"none\"");
}

static void two_tabs_do_not_overwrite_each_other(void **state)
{
  (void)state;
  char version[VERSION_SIZE];
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 200, "");
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 4, 409, "changed elsewhere");
  assert_int_equal(columns(1, version), 3);
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 200, version); /* said twice */
  serve_paint(&site, "photo=1", SERVE_WIDTH, SERVE_HEIGHT, 0, 4, 409, "changed elsewhere");
  put_grey(folder, "masks/1.png", SERVE_HEIGHT, SERVE_WIDTH, 0, 255); /* a paint program */
  serve_paint(&site, query("photo=1&base=%s", version), SERVE_WIDTH, SERVE_HEIGHT, 0, 4, 409,
              "changed elsewhere");
}

static void what_is_no_mask_is_refused(void **state)
{
  (void)state;
  static const uint8_t noise[] = "\x89PNG\r\n\x1a\n and nothing else";
  struct stat about;
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH + 1, SERVE_HEIGHT, 0, 3, 400,
              "the mask has 13 x 8 pixels");
  serve_paint(&site, "photo=1&base=none", SERVE_HEIGHT, SERVE_WIDTH, 0, 3, 400, "expected 12 x 8");
  serve_paint(&site, "photo=9&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 400, "photo");
  serve_paint(&site, "photo=1&base=none&finding=no", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 404, "finding");
  struct asked asked = {"photo=1&base=none", {"Content-Type: image/png"}, noise, sizeof noise - 1};
  serve_expect(&site, "PUT", "/mask", asked, 400, "the mask");
  asked.size = 0;
  serve_expect(&site, "PUT", "/mask", asked, 400, "is empty");
  asked.headers[0] = "Content-Type: image/jpeg";
  serve_expect(&site, "PUT", "/mask", asked, 415, "image/png");
  assert_int_not_equal(stat(path_in(folder, "masks"), &about), 0);
}

static void a_damaged_mask_is_said(void **state)
{
  (void)state;
  put_text(folder, "masks/1.png", "not a mask");
  GET(&site, "/mask", "photo=1", 400, "masks/1.png");
  put_grey(folder, "masks/1.png", 3, 3, 255, 0);
  GET(&site, "/mask", "photo=1", 400, "has 3 x 3 pixels, expected 12 x 8");
}

static void proposals_are_accepted(void **state)
{
  (void)state;
  char version[VERSION_SIZE];
  GET(&site, "/proposal", "photo=0&finding=tag-7377fabe", 200, "PNG");
  GET(&site, "/proposal", "photo=1&finding=tag-7377fabe", 404, "no mask is proposed");
  GET(&site, "/proposal", "photo=0", 404, "finding");
  serve_paint(&site, "photo=2&base=none", SERVE_WIDTH, SERVE_HEIGHT, 9, 12, 200, "");
  serve_post(&site, "/api/accept", "{'finding': 'tag-7377fabe', 'photos': [0, 2]}", 200, "{\"accepted\":2}");
  assert_int_equal(columns(0, version), 6);
  assert_int_equal(columns(2, version), 9); /* what was painted stays */
  GET(&site, "/api/photos", "finding=tag-7377fabe&show=todo", 200, "\"total\":1");
  serve_post(&site, "/api/accept", "{'finding': 'tag-7377fabe', 'photos': [4, 1]}", 400,
             "no mask is proposed");
  GET(&site, "/api/photos", "finding=tag-7377fabe&show=todo", 200, "\"total\":0"); /* 4 was done before */
  serve_post(&site, "/api/accept", "{'finding': 'tag-7377fabe', 'photos': [-1]}", 400,
             "whole numbers below 6");
}

static void a_painting_answers_its_finding(void **state)
{
  (void)state;
  serve_paint(&site, "photo=4&base=none&finding=tag-7377fabe", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 200, "");
  GET(&site, "/api/photos", "finding=tag-7377fabe&show=done", 200, "\"said\":\"accepted\"");
}

/* Files of proposals come from another program: they lead nowhere else. */
static void proposals_stay_in_the_folder(void **state)
{
  (void)state;
  put_text(folder, ".r4/proposals/tag-7377fabe/proposals.json",
           "{\"proposals\": [{\"file\": \"0.png\", \"mask\": \"../../../images/0.png\"}, {\"file\": "
           "\"2.png\", \"mask\": "
           "\"/etc/passwd\"}, {\"file\": \"4.png\"}, 7]}");
  GET(&site, "/proposal", "photo=0&finding=tag-7377fabe", 500, "leads out");
  GET(&site, "/proposal", "photo=2&finding=tag-7377fabe", 500, "");
  GET(&site, "/proposal", "photo=4&finding=tag-7377fabe", 404, "");
  put_text(folder, ".r4/proposals/tag-7377fabe/proposals.json", "{");
  serve_post(&site, "/api/accept", "{'finding': 'tag-7377fabe', 'photos': [0]}", 500, "proposals.json");
}

/* Outlines and a mask of one photo are an error to the reader. */
static void outlines_are_left_alone(void **state)
{
  (void)state;
  site_close(&site);
  put_text(folder, "boxes.csv", "file,x,y,width,height\n1.png,1,1,3,3\n");
  serve_open(&site, folder);
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 400, "outlines");
  serve_paint(&site, "photo=0&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 200, "");
}

/* The folder that cannot be written to: nothing changes, and it is said. */
static void what_cannot_be_written_is_said(void **state)
{
  (void)state;
  put_text(folder, "masks", "a file");
  serve_paint(&site, "photo=1&base=none", SERVE_WIDTH, SERVE_HEIGHT, 0, 3, 500, "masks/1.png");
  assert_int_equal(mkdir(path_in(folder, "marks.json"), 0777), 0);
  serve_post(&site, "/api/decide", "{'finding': 'tag-7377fabe', 'answer': 'core', 'edit': 0}", 500,
             "marks.json");
  rmdir(path_in(folder, "marks.json"));
  GET(&site, "/api/find", NULL, 200, "\"answer\":null,\"edit\":0");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void)
{
  const struct CMUnitTest tests[] = {
    TEST(masks_are_painted_and_kept),
    TEST(a_mask_without_white_is_removed),
    TEST(two_tabs_do_not_overwrite_each_other),
    TEST(what_is_no_mask_is_refused),
    TEST(a_damaged_mask_is_said),
    TEST(proposals_are_accepted),
    TEST(a_painting_answers_its_finding),
    TEST(proposals_stay_in_the_folder),
    TEST(outlines_are_left_alone),
    TEST(what_cannot_be_written_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
