/* Masks from annotations: boxes in a table, COCO, Label Studio; what they mark, which images they are of, and what is
 * refused. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/annotation/mask_source.h"
#include "data/data.h"
#include "folder_make.h"

enum { H = 3, W = 4, PIXELS = H * W };

/* ---- One image ---- */

static struct annotations *parse(const char *text, const char *categories, r4_error *e)
{
  size_t size = strlen(text);
  uint8_t *bytes = r4_mem_new(size + 1, 1);
  memcpy(bytes, text, size);
  struct annotations *a = mask_source_parse("notes", bytes, size, categories, e);
  r4_mem_free(bytes);
  return a;
}

/* What is marked in the image a.png, as rows of # and dots; "none" without outlines. */
static void marks(const char *text, const char *categories, char got[PIXELS + 1])
{
  r4_error e = {0};
  struct annotations *a = parse(text, categories, &e);
  if (!a) fail_msg("%s", e.text);
  size_t image = 0;
  if (annotations_find(a, "images/a.png", &image, &e)) fail_msg("%s", e.text);
  snprintf(got, PIXELS + 1, "none");
  if (image && a->image[image - 1].n) {
    uint8_t mask[PIXELS] = {0};
    struct outline_report report = {0};
    if (annotations_draw(a, image - 1, H, W, mask, &report, &e)) fail_msg("%s", e.text);
    for (int k = 0; k < PIXELS; k++) got[k] = mask[k] ? '#' : '.';
    got[PIXELS] = 0;
  }
  annotations_free(a);
}

#define COCO(images, annotations)                             \
  "{\"images\": [" images "], \"annotations\": [" annotations \
  "], \"categories\": [{\"id\": 1, \"name\": \"tag\"}, "      \
  "{\"id\": 2, \"name\": \"ruler\"}]}"
#define IMAGE "{\"id\": 7, \"file_name\": \"a.png\", \"width\": 4, \"height\": 3}"
#define OF(category, rest) "{\"image_id\": 7, \"category_id\": " category ", " rest "}"
#define TASK(image, results)                                                         \
  "[{\"data\": {\"image\": \"" image "\"}, \"annotations\": [{\"result\": [" results \
  "], \"was_cancelled\": false}]}]"
#define SIZE "\"original_width\": 4, \"original_height\": 3, \"image_rotation\": 0"
#define REGION(value) "{\"type\": \"x\", " SIZE ", \"value\": {" value "}}"

static const struct {
  const char *text, *categories, *marks;
} cases[] = {
  /* boxes */
  {"file,x,y,width,height\na.png,1,0,2,2\n", NULL, ".##..##....."},
  {"File;X1;Y1;X2;Y2\r\na.png;1;0;3;2\r\n", NULL, ".##..##....."},
  {"file\txmin\tymin\txmax\tymax\nimages/a.png\t1\t0\t3\t2\n", NULL, ".##..##....."},
  {"file,x,y,width,height\na.png,0,0,1,1\nb.png,0,0,4,3\na.png, 3 ,2,1,1\n", NULL, "#..........#"},
  {"file,label,x,y,width,height\na.png,tag,0,0,1,1\na.png,ruler,3,2,1,1\n", "ruler", "...........#"},
  {"file,label,x,y,width,height\na.png,tag,0,0,1,1\na.png,ruler,3,2,1,1\n", " tag , ruler", "#..........#"},
  {"file,label,x,y,width,height\na.png,tag,0,0,1,1\nb.png,ruler,3,2,1,1\n", "ruler", "none"},
  {"file,x,y,width,height\na.png,,,,\n", NULL, "none"},
  {"file,x,y,width,height\nb.png,0,0,1,1\n", NULL, "none"},
  {"file,x,y,width,height,image_width,image_height\na.png,100,0,200,200,400,300\n", NULL, ".##..##....."},
  {"file,x,y,width,height\na.png,-5,1.6,100,1\n", NULL, "........####"},
  /* COCO */
  {COCO(IMAGE, OF("1", "\"segmentation\": [[1, 0, 3, 0, 3, 2, 1, 2]]")), NULL, ".##..##....."},
  {COCO(IMAGE, OF("1", "\"segmentation\": [[0, 0, 1, 0, 1, 1, 0, 1], [3, 2, 4, 2, 4, 3, 3, 3]]")), NULL,
   "#..........#"},
  {COCO(IMAGE, OF("1", "\"bbox\": [1, 0, 2, 2]")), NULL, ".##..##....."},
  {COCO(IMAGE, OF("1", "\"segmentation\": [], \"bbox\": [1, 0, 2, 2]")), NULL, ".##..##....."},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": [3, 2, 1, 2, 4]}")), NULL,
   ".##..##....."},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": \"32103\"}")), NULL, ".##..##....."},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": \"0<\"}")), NULL, "############"},
  {COCO(IMAGE, OF("1", "\"bbox\": [0, 0, 1, 1]") "," OF("2", "\"bbox\": [3, 2, 1, 1]")), NULL,
   "#..........#"},
  {COCO(IMAGE, OF("1", "\"bbox\": [0, 0, 1, 1]") "," OF("2", "\"bbox\": [3, 2, 1, 1]")), "ruler",
   "...........#"},
  {COCO(IMAGE, OF("1", "\"bbox\": [0, 0, 1, 1]") "," OF("2", "\"bbox\": [3, 2, 1, 1]")), "1", "#..........."},
  {COCO(IMAGE, ""), NULL, "none"},
  {COCO("{\"id\": 7, \"file_name\": \"data/a.png\"}", OF("1", "\"bbox\": [1, 0, 2, 2]")), NULL,
   ".##..##....."},
  {COCO("{\"id\": 7, \"file_name\": \"a.png\", \"width\": 8, \"height\": 6}",
        OF("1", "\"bbox\": [2, 0, 4, 4]")),
   NULL, ".##..##....."},
  /* Label Studio */
  {TASK("/data/upload/1/0a1B2c3d-a.png", REGION("\"x\": 25, \"y\": 0, \"width\": 50, \"height\": 66.7, "
                                                "\"rectanglelabels\": [\"tag\"]")),
   NULL, ".##..##....."},
  {TASK("a.png", REGION("\"x\": 25, \"y\": 0, \"width\": 50, \"height\": 66.7, \"rectanglelabels\": "
                        "[\"tag\"]") "," REGION("\"x\": 75, \"y\": 66, \"width\": 25, \"height\": 34, "
                                                "\"rectanglelabels\": [\"ruler\"]")),
   "ruler", "...........#"},
  {TASK("https://host/x/a.png?token=1/2", REGION("\"points\": [[25, 0], [75, 0], [75, 67], [25, 67]]")), NULL,
   ".##..##....."},
  {TASK("/data/local-files/?d=my%20data/images/a.png",
        REGION("\"points\": [[25, 0], [75, 0], [75, 67], [25, 67]]")),
   NULL, ".##..##....."},
  {TASK("a.png", REGION("\"x\": 75, \"y\": 0, \"width\": 50, \"height\": 66.7, \"rotation\": 90")),
   NULL, /* to the left */
   ".##..##....."},
  {TASK("a.png", "{\"type\": \"choices\", \"value\": {\"choices\": [\"good\"]}}"), NULL, "none"},
  {"[{\"data\": {\"photo\": \"a.png\", \"note\": \"x\"}, \"annotations\": [{\"was_cancelled\": true, "
   "\"result\": "
   "[" REGION("\"points\": [[0, 0], [75, 0], [75, 67]]") "]}, {\"result\": [" REGION(
     "\"x\": 25, \"y\": 0, \"width\": 50, \"height\": 66.7") "]}]}]",
   NULL, ".##..##....."},
  {TASK("a.png", ""), NULL, "none"},
};

static void outlines_become_masks(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char got[PIXELS + 1];
    marks(cases[k].text, cases[k].categories, got);
    if (strcmp(got, cases[k].marks))
      fail_msg("case %zu, %s: %s, expected %s", k, cases[k].text, got, cases[k].marks);
  }
}

struct bits {
  uint8_t byte[64];
  size_t n;
};

static void put(struct bits *to, int width, unsigned value)
{
  for (int b = width - 1; b >= 0; b--, to->n++)
    if (value >> b & 1) to->byte[to->n / 8] |= (uint8_t)(1 << (7 - to->n % 8));
}

/* Values that are the same: the length is the which-th of 3, 4, 8 and 16 bits. */
static void put_run(struct bits *to, int which, unsigned n, unsigned value)
{
  put(to, 1, 1);
  put(to, 2, (unsigned)which);
  put(to, (int[]){3, 4, 8, 16}[which], n - 1);
  put(to, 8, value);
}

/* A brush: 48 values of 8 bits in runs and single ones, made by hand. */
static void brushes(void **state)
{
  (void)state;
  struct bits bits = {{0}, 0};
  put(&bits, 32, 4 * PIXELS);
  put(&bits, 5, 7);
  for (int k = 0; k < 4; k++) put(&bits, 4, (unsigned[]){2, 3, 7, 15}[k]);
  put_run(&bits, 0, 4, 0);
  put_run(&bits, 1, 8, 255);
  put(&bits, 1, 0), put(&bits, 2, 2),
    put(&bits, 8, 7); /* eight single values, of two pixels without a mark */
  for (int k = 0; k < 8; k++) put(&bits, 8, k % 4 == 3 ? 0 : 9);
  put_run(&bits, 3, 8, 200); /* less than white counts as well */
  put_run(&bits, 3, 20, 0);
  char text[2048], got[PIXELS + 1];
  int n = snprintf(text, sizeof text,
                   "[{\"data\": {\"image\": \"a.png\"}, \"annotations\": [{\"result\": [{" SIZE
                   ", \"value\": {\"format\": \"rle\", \"brushlabels\": [\"tag\"], \"rle\": [");
  for (size_t k = 0; k < (bits.n + 7) / 8; k++)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", k ? ", " : "", bits.byte[k]);
  snprintf(text + n, sizeof text - (size_t)n, "]}}]}]}]");
  marks(text, NULL, got);
  assert_string_equal(got, ".##..##.....");
  char *end = strstr(text, "]}}]}]}]"); /* the stream ends early, or is of another size */
  snprintf(end - 4, 64, "]}}]}]}]");
  r4_error e = {0};
  assert_null(parse(text, NULL, &e));
  assert_string_equal(
    e.text, "notes: task [0], annotations[0], result[0]: rle is not a packed image of 4 x 3 pixels");
}

static const struct {
  const char *text, *says;
} bad[] = {
  {"file,x,y,width\na.png,1,2,3\n", "notes:1: no column \"height\""},
  {"name,x,y,width,height\n", "notes:1: no column \"file\"; the first line names \"name\", \"x\","},
  {"name,x,y,width,height\n", "expected file, x, y, width, height, or file, x1, y1, x2, y2"},
  {"file,x,y,width,height\na.png,1,2,3,x\n", "notes:2: height is \"x\", expected a number"},
  {"file,x,y,width,height\na.png,1,2,3,\n", "notes:2: height is \"\", expected a number"},
  {"file,x,y,width,height\na.png,1,2,3,nan\n", "notes:2: height is \"nan\", expected a number"},
  {"file,x,y,width,height\na.png,1,2,0x3,1\n", "notes:2: width is \"0x3\", expected a number"},
  {"file,x,y,width,height\n,1,2,3,4\n", "notes:2: the file is empty"},
  {"file,x,y,width,height\n\na.png,1,2,-3,4\n",
   "notes:3: file a.png: a box of -3 x 4, expected a width and a height above 0"},
  {"file,x1,y1,x2,y2\na.png,5,2,3,4\n", "notes:2: file a.png: a box of -2 x 2"},
  {"file,x,y,width,height\na.png,1e12,2,3,4\n", "notes:2: file a.png: a coordinate of 1e+12"},
  {"file,x,y,width,height,image_width\na.png,1,2,3,4,5\n", "has one of image_width and image_height"},
  {"file,x,y,width,height,image_width,image_height\na.png,1,2,3,4,5,0\n",
   "notes:2: image_height is 0, expected"},
  {"file,x,y,width,height,image_width,image_height\na.png,1,2,3,4,5,5\na.png,1,2,3,4,5,6\n",
   "notes: a.png is 5 x 5 pixels once, and 5 x 6 another"},
  {"", "notes:1: empty"},
  {"{}", "notes: not a known kind of annotations: boxes ("},
  {"{\"images\": ", "notes: line 1, column"},
  {"{\"images\": {}, \"annotations\": []}", "notes: images: expected a list"},
  {"{\"images\": [], \"annotations\": {}}", "notes: annotations: expected a list"},
  {COCO("3", ""), "notes: images[0]: has no id"},
  {COCO("{\"id\": 7}", ""), "notes: images[0]: has no file_name"},
  {COCO(IMAGE ", {\"id\": 7, \"file_name\": \"b.png\"}", ""), "notes: images: id 7: stands twice"},
  {COCO("{\"id\": 7, \"file_name\": \"a.png\", \"width\": 4}", ""),
   "notes: images[0]: expected a width and a height"},
  {COCO("{\"id\": 7, \"file_name\": \"a.png\", \"width\": -4, \"height\": 3}", ""),
   "notes: images[0]: expected a width"},
  {COCO(IMAGE, "{}"), "notes: annotations[0]: has no image_id"},
  {COCO(IMAGE, "{\"image_id\": 8}"), "notes: annotations[0]: its image_id is that of no image"},
  {COCO(IMAGE, OF("3", "\"bbox\": [0, 0, 1, 1]")),
   "notes: annotations[0]: its category_id is that of no category"},
  {COCO(IMAGE, OF("1", "\"x\": 1")),
   "notes: annotations[0]: has no segmentation, and no bbox of four numbers"},
  {COCO(IMAGE, OF("1", "\"bbox\": [0, 0, 1]")), "no bbox of four numbers"},
  {COCO(IMAGE, OF("1", "\"bbox\": [0, 0, 1, \"1\"]")), "notes: annotations[0]: expected a list of numbers"},
  {COCO(IMAGE, OF("1", "\"segmentation\": [1, 2, 3, 4, 5, 6]")),
   "expected lists of numbers in a list, one for a polygon"},
  {COCO(IMAGE, OF("1", "\"segmentation\": [[1, 2, 3, 4, 5]]")),
   "notes: annotations[0]: segmentation: an odd number"},
  {COCO(IMAGE, OF("1", "\"segmentation\": [[1, 2, 3, 4]]")), "notes: annotations[0]: a polygon of 2 points"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"counts\": [12]}")), "segmentation: expected a size"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [100000, 100000], \"counts\": [12]}")),
   "expected a size"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4]}")), "segmentation: expected counts"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": [11]}")),
   "notes: annotations[0]: runs of 11 pixels, expected 4 x 3"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": [5, 9]}")),
   "runs of at least 14 pixels"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": [12, -1]}")),
   "a count that is not a number"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": \"~\"}")),
   "not a string of packed runs"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": \"oooooooo\"}")),
   "not a string of packed runs"},
  {COCO(IMAGE, OF("1", "\"segmentation\": {\"size\": [3, 4], \"counts\": \"O\"}")),
   "a count that is not a number"},
  {"{\"images\": [], \"annotations\": [], \"categories\": [{\"id\": 1}]}",
   "notes: categories[0]: expected an id and a name"},
  {"[{\"id\": 1, \"image\": \"a.png\"}]",
   "notes: task [0]: has no annotations, expected an export of Label Studio as JSON"},
  {"[{\"annotations\": []}]", "notes: task [0]: data has no image"},
  {"[{\"data\": {\"image\": \"a.png\"}, \"annotations\": [{}]}]",
   "notes: task [0]: an annotation without a result"},
  {TASK("a.png", "{\"value\": {\"points\": [[0, 0], [1, 0], [1, 1]]}}"),
   "notes: task [0], annotations[0], result[0]: expected original_width and original_height"},
  {TASK("a.png", REGION("\"points\": [[0, 0], [1, 0], [1]]")), "expected points, each a list of two numbers"},
  {TASK("a.png", REGION("\"points\": 7")), "a polygon of 0 points"},
  {TASK("a.png", REGION("\"x\": 1, \"y\": 2, \"width\": \"3\", \"height\": 4")),
   "expected numbers for x, y, width and height"},
  {TASK("a.png", REGION("\"x\": 1, \"y\": 2, \"radiusX\": 3, \"radiusY\": 4")),
   "an ellipse, expected a rectangle"},
  {TASK("a.png", REGION("\"rle\": [1, 2, 256]")), "rle is not a packed image of 4 x 3 pixels"},
  {TASK("a.png", REGION("\"rle\": []")), "rle is not a packed image of 4 x 3 pixels"},
  {TASK("a.png", REGION("\"rle\": \"x\"")), "expected rle, a list of bytes"},
  {TASK(
     "a.png",
     "{\"original_width\": 4, \"original_height\": 3, \"image_rotation\": 90, \"value\": {\"points\": []}}"),
   "the image was rotated when this was marked"},
  {TASK("a.png",
        REGION("\"points\": [[0, 0], [9, 0], [9, 9]]") ", {\"original_width\": 5, \"original_height\": 3, "
                                                       "\"value\": {\"points\": []}}"),
   "result[1]: another original_width or original_height than before in this task"},
};

static void bad_annotations_are_refused(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    r4_error e = {0};
    struct annotations *a = parse(bad[k].text, NULL, &e);
    if (a) fail_msg("accepted: %s", bad[k].text);
    if (e.status != R4_E_PARSE || !strstr(e.text, bad[k].says))
      fail_msg("%s:\n  %s\nexpected\n  %s", bad[k].text, e.text, bad[k].says);
  }
}

static void categories_must_be_there(void **state)
{
  (void)state;
  r4_error e = {0};
  const char *text = COCO(IMAGE, OF("1", "\"bbox\": [0, 0, 1, 1]"));
  assert_null(parse(text, "tag, rule", &e));
  assert_int_equal(e.status, R4_E_ARGUMENT);
  assert_string_equal(
    e.text, "notes: nothing is labelled \"rule\", which mask_categories asks for; there are \"tag\", "
            "\"ruler\"");
  assert_null(parse(text, "tag,,ruler", &e));
  assert_non_null(strstr(e.text, "mask_categories is \"tag,,ruler\", expected 1 to 64 names"));
  assert_null(parse("file,x,y,width,height\na.png,0,0,1,1\n", "tag", &e));
  assert_non_null(strstr(e.text, "there are \"\"")); /* boxes without labels */
}

/* ---- Names ---- */

static void images_are_known_by_name(void **state)
{
  (void)state;
  r4_error e = {0};
  static const char text[] = "file,x,y,width,height\none/a.png,0,0,1,1\ntwo/a.png,0,0,1,1\nb.png,0,0,1,1\n"
                             "images/c.png,0,0,1,1\n";
  static const struct {
    const char *file, *is;
  } want[] = {{"one/a.png", "one/a.png"},
              {"images/two/a.png", "two/a.png"},
              {"sub/b.png", "b.png"},
              {"c.png", "images/c.png"},
              {"B.png", NULL},
              {"b.jpg", NULL}};
  struct annotations *a = parse(text, NULL, &e);
  size_t image = 0;
  assert_int_equal(annotations_find(a, "a.png", &image, &e), R4_E_PARSE);
  assert_string_equal(e.text, "notes: a.png may refer to its one/a.png or its two/a.png");
  for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
    assert_int_equal(annotations_find(a, want[k].file, &image, &e), R4_OK);
    if (want[k].is)
      assert_string_equal(a->image[image - 1].name, want[k].is);
    else
      assert_int_equal(image, 0);
  }
  assert_int_equal(annotations_find(a, "other/b.png", &image, &e), R4_E_PARSE);
  assert_string_equal(e.text,
                      "notes: its b.png would be other/b.png, and another image of the folder as well");
  annotations_free(a);
}

/* ---- Folders ---- */

static const r4_data_options irrelevant = {.mask_means = R4_MASKS_IRRELEVANT};

static char *folder_of_two(void)
{
  char *folder = folder_new();
  put_grey(folder, "images/a.png", H, W, 10, 20);
  put_grey(folder, "images/b.png", H, W, 30, 40);
  put_text(folder, "metadata.csv", "file,label\na.png,cat\nb.png,dog\n");
  return folder;
}

static void expect_mask(const r4_data *d, size_t i, const char *marks)
{
  float mask[PIXELS];
  char got[PIXELS + 1] = "none";
  if (r4_data_mask(d, i, mask))
    for (int k = 0; k < PIXELS; k++) got[k] = mask[k] == 1 ? '#' : mask[k] == 0 ? '.' : '?';
  assert_string_equal(got, marks);
}

static void folders_have_annotations(void **state)
{
  (void)state;
  char *folder = folder_of_two();
  put_text(folder, "boxes.csv", "file,x,y,width,height\na.png,1,0,2,2\n");
  folder_refused(folder, NULL, "has masks (");
  folder_refused(folder, NULL, "boxes.csv), but what white means in them is not stated: set mask_means");
  r4_data *d = folder_opened(folder, &irrelevant);
  expect_mask(d, 0, ".##..##.....");
  expect_mask(d, 1, "none");
  assert_non_null(strstr(r4_data_about(d), "masks: the outlines of "));
  assert_int_equal(r4_data_notes(d), 0);
  r4_data_free(d);
  d = folder_opened(folder, &(r4_data_options){.mask_means = R4_MASKS_RELEVANT});
  expect_mask(d, 0, "#..##..#####");
  expect_mask(d, 1, "none"); /* nothing is known about it */
  r4_data_free(d);
  folder_refused(folder,
                 &(r4_data_options){
                   .mask_means = R4_MASKS_IRRELEVANT, .mask_values = (double[]){1}, .mask_value_count = 1},
                 "mask_values is for masks that are images");
  put_grey(folder, "masks/b.png", H, W, 255, 0); /* both are fine, but not for one image */
  d = folder_opened(folder, &irrelevant);
  expect_mask(d, 1, "##..##..##..");
  r4_data_free(d);
  put_grey(folder, "masks/a.png", H, W, 255, 0);
  folder_refused(folder, &irrelevant, "images/a.png: has a mask, masks/a.png, and outlines in ");
  folder_remove(folder);
}

static void annotations_may_be_elsewhere(void **state)
{
  (void)state;
  char *folder = folder_of_two(), *other = folder_new(), path[4096];
  r4_data_options o = {
    .mask_means = R4_MASKS_IRRELEVANT, .masks = "export/coco.json", .mask_categories = "ruler"};
  folder_refused(folder, &o, "export/coco.json, and no export/coco.json");
  folder_refused(folder, &(r4_data_options){.mask_categories = "ruler"},
                 "mask_categories is set, but there are no annotations");
  put_text(folder, "export/coco.json",
           COCO(IMAGE, OF("1", "\"bbox\": [0, 0, 1, 1]") "," OF("2", "\"bbox\": [3, 2, 1, 1]")));
  r4_data *d = folder_opened(folder, &o);
  expect_mask(d, 0, "...........#");
  r4_data_free(d);
  put_text(other, "b.csv", "file,x,y,width,height\nb.png,0,0,1,1\n");
  snprintf(path, sizeof path, "%s/b.csv", other);
  d = folder_opened(folder, &(r4_data_options){.mask_means = R4_MASKS_IRRELEVANT, .masks = path});
  expect_mask(d, 0, "none");
  expect_mask(d, 1, "#...........");
  r4_data_free(d);
  put_text(folder, "annotations.json", COCO(IMAGE, ""));
  put_text(folder, "boxes.csv", "file,x,y,width,height\na.png,1,0,2,2\n");
  folder_refused(folder, &irrelevant, "has boxes.csv and annotations.json, expected one: select it with masks");
  folder_refused("digits:20", &o,
                 "digits:20: is of the format digits: masks and mask_categories are for folders of images");
  folder_remove(other);
  folder_remove(folder);
}

static void odd_annotations_are_told(void **state)
{
  (void)state;
  char *folder = folder_of_two();
  put_text(folder, "annotations.json",
           COCO(IMAGE ", {\"id\": 8, \"file_name\": \"b.png\", \"width\": 8, \"height\": 6}, "
                      "{\"id\": 9, \"file_name\": \"c.png\"}",
                OF("1", "\"bbox\": [1, 0, 200, 2]") ", {\"image_id\": 8, \"bbox\": [2.1, 2, 0.2, 0.2]}"));
  r4_data *d = folder_opened(folder, &irrelevant);
  expect_mask(d, 0, ".###.###....");
  expect_mask(d, 1, "none");
  static const char *const notes[] = {
    "1 of its 3 images are not in the folder, c.png first",
    "of 1 image outlines reach beyond the image, and are cut, images/a.png first",
    "of 1 image the size is not that of the file, and outlines are scaled to it, images/b.png",
    "of 1 image an outline contains no pixel of the image, images/b.png first"};
  assert_int_equal(r4_data_notes(d), 4);
  for (size_t k = 0; k < 4; k++)
    if (!strstr(r4_data_note(d, k), notes[k])) fail_msg("%s: no '%s'", r4_data_note(d, k), notes[k]);
  r4_data_free(d);
  put_text(folder, "annotations.json",
           COCO("{\"id\": 7, \"file_name\": \"x.png\"}", OF("1", "\"bbox\": [1, 0, 2, 2]")));
  folder_refused(folder, &irrelevant, "none of its 1 images is in the folder, x.png first");
  put_text(folder, "annotations.json",
           COCO("{\"id\": 7, \"file_name\": \"a.png\", \"width\": 4, \"height\": 6}",
                OF("1", "\"bbox\": [1, 0, 2, 2]")));
  folder_refused(folder, &irrelevant, "a.png is 4 x 6 pixels there, but 4 x 3 in the folder: another shape");
  folder_remove(folder);
}

/* Changed annotations are another file of the cache. */
static void the_cache_knows_annotations(void **state)
{
  (void)state;
  char *folder = folder_of_two(), cache[4096];
  snprintf(cache, sizeof cache, "%s/cache", folder);
  r4_data_options o = {.mask_means = R4_MASKS_IRRELEVANT, .cache = cache};
  for (int k = 0; k < 3; k++) {
    put_text(folder, "boxes.csv",
             k ? "file,x,y,width,height,label\na.png,1,0,2,2,tag\n"
               : "file,x,y,width,height,label\na.png,0,0,1,1,tag\n");
    r4_data *d = folder_opened(folder, &o);
    expect_mask(d, 0, k ? ".##..##....." : "#...........");
    r4_data_free(d);
  }
  folder_remove(folder);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  static const char *const texts[] = {
    "file,x,y,width,height,label\na.png,1,0,2,2,tag\nb.png,1,0,2,2,tag\na.png,1,0,2,2,ruler\n",
    COCO(IMAGE,
         OF("1", "\"segmentation\": [[1, 0, 3, 0, 3, 2, 1, 2]]") "," OF("1", "\"bbox\": [0, 0, 1, 1]") "," OF(
           "2", "\"segmentation\": {\"size\": [3, 4], \"counts\": \"32103\"}")),
    TASK("/data/upload/1/0a1B2c3d-a.png",
         REGION("\"x\": 25, \"y\": 0, \"width\": 50, \"height\": 66.7") "," REGION(
           "\"points\": [[0, 0], [75, 0], [75, 67]]"))};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
    for (long n = 1;; n++) {
      r4_error e = {0};
      size_t size = strlen(texts[k]);
      uint8_t copy[1024] = {0};
      memcpy(copy, texts[k], size);
      r4_mem_fail_at(n);
      struct annotations *a = mask_source_parse("notes", copy, size, k < 2 ? "tag" : NULL, &e);
      bool reached = r4_mem_count() >= n;
      r4_mem_fail_at(0);
      if (!a && e.status != R4_E_MEMORY) fail_msg("allocation %ld: %s", n, e.text);
      assert_true(reached || a);
      annotations_free(a);
      if (!reached) break;
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(outlines_become_masks),        cmocka_unit_test(brushes),
    cmocka_unit_test(bad_annotations_are_refused),  cmocka_unit_test(categories_must_be_there),
    cmocka_unit_test(images_are_known_by_name),     cmocka_unit_test(folders_have_annotations),
    cmocka_unit_test(annotations_may_be_elsewhere), cmocka_unit_test(odd_annotations_are_told),
    cmocka_unit_test(the_cache_knows_annotations),  cmocka_unit_test(memory_may_run_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
