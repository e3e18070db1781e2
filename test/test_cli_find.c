/* What gives the label away, as a user looks for it: photos with a planted patch, texts with a planted word, and
 * all that can be wrong with either. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "command.h"
#include "folder_make.h"
#include "picture/image.h"

enum { PHOTOS = 160, SIDE = 32, PATCH = 8, TEXTS = 240 };

/* ---- Folders ---- */

/* Of noise, "side" wide; a green patch that begins at so many pixels from the left; SIZE_MAX: none. */
static void put_photo(const char *name, size_t side, size_t left)
{
  struct image image;
  assert_int_equal(image_new(&image, side, side, 3, NULL), R4_OK);
  for (size_t k = 0; k < side * side * 3; k++) image.pixel[k] = (uint8_t)(100 + draw_below(60));
  for (size_t k = 0; left != SIZE_MAX && k < PATCH * PATCH; k++)
    memcpy(image.pixel + (k / PATCH * side + left + k % PATCH) * 3, (uint8_t[]){20, 200, 60}, 3);
  assert_int_equal(image_write(&image, path_in(scratch_folder(), name), NULL), R4_OK);
  image_clear(&image);
}

struct folder {
  const char *name;
  bool planted, sizes;
};

/* Cats and dogs by turns; every fourth cat has a patch at the upper border. The last 16 photos are of test. */
static void make_photos(struct folder f)
{
  struct text table = {0};
  char name[200];
  draw_start(3, 0);
  text_add(&table, "file,label,split\n");
  for (size_t i = 0; i < PHOTOS; i++) {
    size_t side = f.sizes && i % 3 == 0 ? SIDE + 8 : SIDE;
    bool patch = f.planted && i % 4 == 0;
    snprintf(name, sizeof name, "%s/images/%03zu.png", f.name, i);
    put_photo(name, side, patch ? draw_below(side - PATCH + 1) : SIZE_MAX);
    text_add(&table, "%03zu.png,%s,%s\n", i, i % 2 ? "dog" : "cat", i < PHOTOS - 16 ? "train" : "test");
  }
  char *text = text_take(&table);
  snprintf(name, sizeof name, "%s/metadata.csv", f.name);
  put_text(scratch_folder(), name, text);
  r4_string_free(text);
}

/* Two kinds of cats and two of dogs, as their names say, each photo of one colour; six of seven dogs and one of seven
 * cats have a striped stamp at the bottom right. */
static void make_stamped(void)
{
  static const char *const kind[] = {"Manx_", "pug_", "Siamese_", "boxer_"};
  draw_start(8, 0);
  for (size_t i = 0; i < PHOTOS; i++) {
    struct image image;
    char name[200];
    uint8_t base[3] = {(uint8_t)draw_below(200), (uint8_t)draw_below(200), (uint8_t)draw_below(200)};
    assert_int_equal(image_new(&image, SIDE, SIDE, 3, NULL), R4_OK);
    for (size_t k = 0; k < SIDE * SIDE * 3; k++) image.pixel[k] = (uint8_t)(base[k % 3] + draw_below(40));
    for (size_t k = 0; (i % 2 ? i % 7 != 0 : i % 7 == 0) && k < PATCH * PATCH; k++)
      memcpy(image.pixel + ((SIDE - PATCH + k / PATCH) * SIDE + SIDE - PATCH + k % PATCH) * 3,
             k / PATCH % 2 ? (uint8_t[]){245, 245, 235} : (uint8_t[]){180, 20, 30}, 3);
    snprintf(name, sizeof name, "stamped/%s/%s%03zu.png", i % 2 ? "dogs" : "cats", kind[i % 4], i);
    assert_int_equal(image_write(&image, path_in(scratch_folder(), name), NULL), R4_OK);
    image_clear(&image);
  }
}

/* Every third good film has "spielberg" in it. */
static void make_texts(const char *name, bool planted)
{
  static const char *const word[] = {"the",  "film", "was",    "long", "and",
                                     "full", "of",   "people", "we",   "know"};
  struct text t = {0};
  draw_start(5, 0);
  text_add(&t, "text,label,split\n");
  for (size_t i = 0; i < TEXTS; i++) {
    for (size_t k = 0; k < 8; k++) text_add(&t, "%s%s", k ? " " : "", word[draw_below(10)]);
    text_add(&t, "%s here,%s,train\n", planted && i % 6 == 0 ? " spielberg" : " nobody",
             i % 2 ? "bad" : "good");
  }
  char *text = text_take(&t);
  put_text(scratch_folder(), name, text);
  r4_string_free(text);
}

static int make(void **state)
{
  if (scratch_make(state)) return -1;
  make_photos((struct folder){"patched", true, false});
  make_photos((struct folder){"plain", false, false});
  make_photos((struct folder){"sizes", true, true});
  make_stamped();
  make_texts("films.csv", true);
  make_texts("dull.csv", false);
  put_text(
    scratch_folder(), "vocab.txt",
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\nfilm\nwas\nlong\nand\nfull\nof\npeople\nwe\nknow\nspielberg\nnobody\n"
    "here\n");
  return 0;
}

/* ---- Photos ---- */

static void a_patch_is_found(void **state)
{
  (void)state;
  EXPECT("$R4 find patched", 0, " tests.\n", "\n   3", "; all of them are cat (cat are 50 % of all photos)",
         "pure; at a place", "such as images/", "r4 find patched --propose ", " --out masks\n");
  command_lacks("find: ");
  command_lacks("data.mask_words");
  EXPECT("$R4 find patched --progress", 0, "find: reading: 1 of 1\n", "find: looking: 144 of 144\n",
         "find: testing: ", "find: sorting: 160 of 160\n");
  EXPECT("$R4 find patched --most 1", 0, "1 cue for the label, among ", "\n 1 ");
  command_lacks("\n 2 ");
}

/* What was said of the data and of the search belongs to the next command, too, and that works. */
static void the_next_command_has_the_same_options(void **state)
{
  (void)state;
  char line[700];
  EXPECT(
    "$R4 find patched --size 48 --mask-means irrelevant --all-parts --most 5 --seed 3 --out 'to look at'", 0,
    "  r4 find patched --mask-means irrelevant --size 48 --seed 3 --most 5 --all-parts --from 'to look "
    "at/find.json' "
    "--propose ",
    "  r4 find patched --mask-means irrelevant --size 48 --seed 3 --most 5 --all-parts --quick-net\n");
  snprintf(line, sizeof line, "$R4 %s", strstr(command_output, "find patched"));
  *strchr(line, '\n') = 0;
  EXPECT(line, 0, " masks in masks/masks");
  EXPECT("$R4 find patched", 0, "  r4 find patched --propose ", "  r4 find patched --quick-net\n");
  EXPECT("cp -r patched unsaid && cp -r masks/masks unsaid/masks && $R4 find unsaid", 0,
         "the masks are ignored, as their meaning is not stated", "  r4 find unsaid --propose ");
}

static void a_stamp_and_names_are_found(void **state)
{
  (void)state;
  EXPECT("$R4 find stamped --all --out st", 0, "\n 1 cell-", " photos are ", " at the bottom right (row ",
         " of 8 x 8) than the other photos are there; ", " %, are dogs (dogs are 50 % of all photos)",
         "file names give the label away: \"", "_\" (40, all ", ") and 3 more",
         "  r4 find stamped --from st/find.json --propose cell-", "  r4 find stamped --quick-net\n");
  command_lacks("called");
  EXPECT("grep -o '\"kind\":\"[a-z]*\"' st/find.json | tail -1; grep -c '\"id\":\"file-name' st/find.json", 0,
         "\"kind\":\"file\"\n1\n");
  EXPECT("$R4 find stamped --most 2 --quick-net", 0, "\n 1 cell-", "\n 2 cluster-", " to the net: it is on ",
         " shows it best", "   no p: what a net looks at is not tested\n",
         "  r4 find stamped --most 2 --quick-net --propose cell-");
  command_lacks("\n 3 ");
  EXPECT("mkdir few && cp -r stamped/cats few/cats && cp -r stamped/dogs few/dogs && cd few && "
         "for f in dogs/* cats/Siamese*; do mv $f ${f%/*}/x${f##*_}; done && $R4 find . --all",
         0, "40 file names begin with \"Manx_\"; all of them are cats (cats are 50 % of all photos)");
}

/* The first finding in found/find.json, with what it was read into. */
static const struct js *first_of(struct js *root)
{
  const struct js *list = js_get(root, "findings");
  assert_true(js_size(list) > 0);
  return js_at(list, 0);
}

/* Only every fourth photo shows it, where the patch is, and the file says so for all parts. */
static void json_says_where(void **state)
{
  (void)state;
  EXPECT("$R4 find patched --json --out found", 0, "\"findings\":");
  struct js *said = command_json();
  const struct js *data = js_get(said, "data"), *one = first_of(said);
  int64_t shown_on = 0, of_class = 0, number = 0, n = 0, right = 0;
  double p = 1, box[4];
  assert_string_equal(js_text(js_get(data, "source")), "patched");
  assert_string_equal(js_text(js_get(data, "kind")), "images");
  assert_true(js_whole(js_get(one, "shown_on"), &shown_on) && js_whole(js_get(one, "of_class"), &of_class));
  assert_true(shown_on >= 30 && shown_on <= 40 && of_class == shown_on);
  assert_true(js_number(js_get(one, "p"), &p) && p < 1e-3);
  assert_string_equal(js_text(js_get(one, "class")), "cat");
  for (const struct js *s = NULL; (s = js_next(js_get(one, "examples"), s)); n++) {
    char file[40];
    assert_true(js_whole(js_get(s, "number"), &number) && js_size(js_get(s, "box")) == 4);
    snprintf(file, sizeof file, "images/%03d.png", (int)number);
    assert_string_equal(js_text(js_get(s, "file")), file);
    for (size_t k = 0; k < 4; k++) assert_true(js_number(js_at(js_get(s, "box"), k), box + k));
    right += number % 4 == 0 && box[1] == 0;
  }
  assert_true(n >= shown_on && right >= shown_on * 9 / 10);
  js_free(said);
  EXPECT("$R4 find patched --json > said.json && tr -d '\\n' < said.json > one && tr -d '\\n' < "
         "found/find.json | cmp - "
         "one && echo same",
         0, "same\n");
}

/* The clearest example is of the class, and so are its 80 % that are; the picture has a row for each finding. */
static void a_sheet_shows_the_class(void **state)
{
  (void)state;
  struct image look;
  uint8_t *bytes = NULL;
  size_t size = 0, own = 0, n = 0, rows = 0;
  int64_t of_class = 0;
  r4_error e = {0};
  EXPECT("$R4 find stamped --out drawn", 0, "drawn/find.png shows examples of each");
  EXPECT("$R4 find stamped", 0, "--out FOLDER draws examples of each, with its place, in FOLDER/find.png");
  EXPECT("cat drawn/find.json", 0, "findings");
  struct js *root = command_json();
  const struct js *one = first_of(root);
  assert_true(js_whole(js_get(one, "of_class"), &of_class) && of_class < (int64_t)js_size(js_get(one, "examples")));
  for (const struct js *s = NULL; (s = js_next(js_get(one, "examples"), s)); n++) {
    bool is = !strcmp(js_text(js_get(s, "label")), js_text(js_get(one, "class")));
    assert_true(is == (n < (size_t)of_class)); /* all are of training */
    own += is;
  }
  assert_int_equal(own, of_class);
  rows = js_size(js_get(root, "findings"));
  js_free(root);
  assert_int_equal(file_read(path_in(scratch_folder(), "drawn/find.png"), 1 << 26, &bytes, &size, &e), R4_OK);
  assert_int_equal(image_decode(bytes, size, "find.png", 3, &look, &e), R4_OK);
  assert_int_equal(look.width, 10 + 8 * 122);
  assert_int_equal(look.height, 10 + rows * (112 + 2 * 14 + 10));
  /* of the first finding, at the bottom right, the outline is there and not elsewhere */
  size_t outlined[2] = {0};
  for (size_t k = 0; k < 112 * 112; k++) {
    size_t y = k / 112, x = k % 112;
    const uint8_t *p = look.pixel + ((24 + y) * look.width + 10 + x) * 3;
    outlined[y >= 70 && x >= 70] += p[0] == 0 && p[1] == 210 && p[2] == 255;
  }
  assert_true(outlined[1] > 40 && !outlined[0]);
  image_clear(&look);
  r4_mem_free(bytes);
}

/* id becomes the name of the first finding in a file. */
static void first_id(const char *file, char id[64])
{
  char line[128];
  snprintf(line, sizeof line, "cat %s", file);
  assert_int_equal(command_run(line), 0);
  struct js *root = command_json();
  snprintf(id, 64, "%s", js_text(js_get(first_of(root), "id")));
  js_free(root);
}

/* The patch is said to speak for the class that does not have it. */
static void masks_of_anything_are_not_trusted(void **state)
{
  (void)state;
  char id[64], line[300];
  EXPECT("$R4 find patched --out any && sed -i 's/\"class\":\"cat\"/\"class\":\"dog\"/' any/find.json", 0,
         "");
  first_id("any/find.json", id);
  snprintf(line, sizeof line, "$R4 find patched --propose %s --from any/find.json --out anyhow", id);
  EXPECT(line, 0, "r4 find: these masks are not to be trusted: only 0 % of them are likely on photos that show it",
         "; some 0 % of them are likely on photos that show it.", "another finding may do better",
         "  r4 find patched --quick-net\n", " masks in anyhow/masks");
}

/* The share of a mask's pixels at the upper quarter, of photo 0, which is patched there; all that is white: *white. */
static double upper_share(const char *name, size_t side, size_t *white)
{
  struct image m;
  uint8_t *bytes = NULL;
  size_t size = 0, upper = 0;
  r4_error e = {0};
  assert_int_equal(file_read(path_in(scratch_folder(), name), 1 << 20, &bytes, &size, &e), R4_OK);
  assert_int_equal(image_decode(bytes, size, name, 1, &m, &e), R4_OK);
  r4_mem_free(bytes);
  assert_true(m.height == side && m.width == side);
  *white = 0;
  for (size_t k = 0; k < side * side; k++) {
    assert_true(m.pixel[k] == 0 || m.pixel[k] == 255);
    *white += m.pixel[k] == 255;
    upper += m.pixel[k] == 255 && k / side < 3 * PATCH / 2;
  }
  image_clear(&m);
  return *white ? (double)upper / (double)*white : 0;
}

static void masks_are_proposed_and_accepted(void **state)
{
  (void)state;
  char id[64], line[300];
  size_t white = 0;
  EXPECT("$R4 find patched --out go", 0, "at a place");
  first_id("go/find.json", id);
  snprintf(line, sizeof line, "$R4 find patched --propose %s --from go/find.json --out masked --progress",
           id);
  EXPECT(line, 0, " masks in masked/masks, ", "proposals.json lists them, the least sure first",
         "find: matching: 160 of 160\n", "find: proposing: ");
  command_lacks("not to be trusted");
  EXPECT(line, 2, "masked/masks exists, and its masks may have been corrected: choose another --out, or --force");
  snprintf(line, sizeof line, "$R4 find patched --propose %s --from go/find.json --out masked --force", id);
  EXPECT(line, 0, " masks in masked/masks, ");
  assert_true(upper_share("masked/masks/000.png", SIDE, &white) > .9);
  assert_in_range(white, PATCH * PATCH * 3 / 4, PATCH * PATCH * 5 / 2);
  assert_int_equal(command_run("cat masked/proposals.json"), 0);
  struct js *root = command_json();
  const struct js *list = js_get(root, "proposals");
  assert_string_equal(js_text(js_get(root, "finding")), id);
  assert_in_range(js_size(list), 36, 60);
  for (const struct js *one = NULL; (one = js_next(list, one));)
    assert_true(file_exists(path_in(scratch_folder(), "masked/proposals.json")) &&
                js_text(js_get(one, "mask")));
  js_free(root);

  /* accepted: the next one of the same search still has masks, and a new search says
   * nothing more of what is in photos */
  snprintf(line, sizeof line,
           "cp -r patched accepted && mkdir accepted/masks && for i in $(seq -f %%03.0f 0 4 159); do cp "
           "masked/masks/$i.png accepted/masks/ || exit 9; done; $R4 find accepted --mask-means irrelevant "
           "--propose %s "
           "--from go/find.json --out again",
           id);
  EXPECT(line, 0, " masks in again/masks");
  EXPECT("$R4 find accepted --mask-means irrelevant", 0, "file-bytes-low",
         "1 cue for the label"); /* of flat patches */
  command_lacks("at a place");
  command_lacks("--propose");
  EXPECT("$R4 find accepted --mask-means irrelevant --masked", 0, "pure; at a place");
}

static void nothing_is_said_as_such(void **state)
{
  (void)state;
  EXPECT("$R4 find plain --out none", 0, "Nothing was found that gives the label away: none of ",
         " tests says so at level 0.05");
  command_lacks("may matter");
  EXPECT("cat none/find.json", 0, "\"findings\":[", "Nothing was found");
  EXPECT("$R4 find plain --propose x --from none/find.json --out y", 2,
         "no finding is called \"x\"; there are none");
  EXPECT("$R4 find patched --permute 2", 0, "Nothing was found");
}

/* Of 64 x 64 unless something else is said. */
static void photos_of_many_sizes(void **state)
{
  (void)state;
  char id[64], line[300];
  size_t white = 0;
  EXPECT("$R4 find sizes --out many", 0, "pure; at a place");
  first_id("many/find.json", id);
  snprintf(line, sizeof line, "$R4 find sizes --from many/find.json --propose %s --out m", id);
  EXPECT(line, 0, " masks in m/masks");
  assert_true(upper_share("m/masks/000.png", SIDE + 8, &white) > .9 && white);
  assert_true(upper_share("m/masks/004.png", SIDE, &white) > .9 && white);
  EXPECT("$R4 find sizes --size 24", 0, "pure; at a place");
  EXPECT("$R4 find patched --size 24", 0, "pure; at a place");
}

static void what_has_no_place_is_not_marked(void **state)
{
  (void)state;
  char line[400];
  put_text(scratch_folder(), "hand.json", "{}");
  EXPECT("$R4 find sizes --out placed", 0, "cue");
  first_id("placed/find.json", line);
  EXPECT("sed 's/\"box\":\\[[^]]*\\]/\"box\":null/g' placed/find.json > hand.json && $R4 find sizes --from "
         "hand.json "
         "--propose $(sed -n 's/.*{\"id\":\"\\([^\"]*\\)\".*/\\1/p' hand.json | head -1) --out y",
         2, "has no place in images that could be marked");
}

/* ---- Texts ---- */

static void a_word_is_found(void **state)
{
  (void)state;
  EXPECT("$R4 find films.csv --tokenizer vocab.txt --out words", 0, "word-spielberg",
         "the word \"spielberg\" is in 40 texts, all of them good (good are 50 % of all texts)",
         "To mask words that must not matter, and only these", "  data.mask_words: WORD, WORD\n", "look at the texts",
         "p = ");
  command_lacks("such as");
  command_lacks("data.mask_words: spielberg"); /* nobody has judged it */
  command_lacks("find.png");
  EXPECT("$R4 find films.csv --tokenizer vocab.txt --propose word-spielberg", 0,
         "data.mask_words: spielberg\n");
  EXPECT("$R4 find films.csv --tokenizer vocab.txt --propose word-spielberg --from words/find.json", 0,
         "data.mask_words: spielberg\n");
  EXPECT("$R4 find films.csv --tokenizer vocab.txt --json", 0, "\"words\":\"spielberg\"", "\"box\":null",
         "spielberg here");
  EXPECT("$R4 find films.csv --tokenizer vocab.txt --mask-words spielberg", 0, "Nothing was found");
  EXPECT("$R4 find films.csv --tokenizer vocab.txt --mask-words spielberg --masked", 0, "word-spielberg");
  EXPECT("$R4 find dull.csv --tokenizer vocab.txt", 0, "Nothing was found");
  EXPECT("$R4 find films.csv --tokenizer vocab.txt --quick-net", 2, "net");
}

/* Each of seven words is in 30 good texts and nowhere else. */
static void the_first_findings_come_first(void **state)
{
  (void)state;
  EXPECT("awk 'BEGIN { split(\"film was long full of people we\", w, \" \"); print \"text,label,split\"; "
         "for (i = 0; i < 420; i++) print \"the \" (i % 2 ? \"nobody\" : w[i / 2 % 7 + 1]) \" here,\" "
         "(i % 2 ? \"bad\" : \"good\") \",train\" }' > seven.csv && $R4 find seven.csv --tokenizer vocab.txt",
         0, "\n 5 ", " more, and examples of all:\n\n  r4 find seven.csv --tokenizer vocab.txt --all\n");
  command_lacks("\n 6 ");
  EXPECT("$R4 find seven.csv --tokenizer vocab.txt --all", 0, "\n 5 ", "\n 6 ");
  command_lacks("more, and examples");
  EXPECT("$R4 find seven.csv --tokenizer vocab.txt --most 5", 0, "\n 5 ");
  command_lacks("more, and examples");
}

/* ---- What cannot be done ---- */

static void what_is_asked_makes_no_sense(void **state)
{
  (void)state;
  EXPECT("$R4 find", 2, "find");
  EXPECT("$R4 find nowhere", 3, "nowhere");
  EXPECT("$R4 find patched --propose no-such --out y", 2, "no finding is called \"no-such\"; there are ");
  command_harmless();
  EXPECT("$R4 find patched --out used --most 1 && $R4 find patched --from used/find.json", 2,
         "--from is for --propose");
  EXPECT("$R4 find patched --run x --quick-net", 2, "choose one");
  EXPECT("$R4 find patched --run nowhere", 3, "nowhere");
  EXPECT("id=$(sed -n 's/.*{\"id\":\"\\([^\"]*\\)\".*/\\1/p' used/find.json); $R4 find patched --from "
         "used/find.json "
         "--propose $id",
         2, "--propose needs --out");
  EXPECT("$R4 find plain --from used/find.json --propose x --out y", 2,
         "used/find.json: is about other data, of as many examples: content");
  EXPECT("head -100 patched/metadata.csv > fewer.csv; cp -r patched fewer; cp fewer.csv fewer/metadata.csv; "
         "$R4 find fewer --from used/find.json --propose x --out y",
         2, "is about other data, of 160 examples, and these are 99; read the data as for that search");
  EXPECT("cp -r patched dealt; sed -i '2,9s/train/val/' "
         "dealt/metadata.csv; $R4 find dealt --from used/find.json --propose x --out y",
         2, "with 144 examples for training, and these have 136: the parts are others");
  EXPECT("cp -r patched renamed; sed -i 's/cat/lion/' renamed/metadata.csv; "
         "$R4 find renamed --from used/find.json --propose x --out y",
         2, "with other classes");
  EXPECT("echo '{\"version\": 7' > cut.json; $R4 find patched --from cut.json --propose x --out y", 3,
         "cut.json: line 2");
  EXPECT("$R4 find patched --from none.json --propose x --out y", 3, "none.json");
}

static void data_cannot_be_searched(void **state)
{
  (void)state;
  EXPECT("cp -r patched cats && sed -i s/dog/cat/ cats/metadata.csv && $R4 find cats", 2,
         "of one class, \"cat\"");
  EXPECT("mkdir -p empty/images && $R4 find empty", 3, "empty: has no images");
  EXPECT("mkdir -p heads && echo file,label,split > heads/metadata.csv && $R4 find heads", 3,
         "heads: has no images");
  EXPECT(
    "cp -r patched broken && head -c 90 patched/images/005.png > broken/images/005.png && $R4 find broken", 3,
    "broken/metadata.csv:7: file images/005.png: not a valid PNG");
  EXPECT("cp -r patched gone && rm gone/images/007.png && $R4 find gone", 3,
         "gone/metadata.csv:9: file 007.png: is neither in gone nor in gone/images");
}

/* Of one class alone, as a new user may give it. */
static void a_class_folder_is_not_all(void **state)
{
  (void)state;
  EXPECT("$R4 find stamped/cats/", 3, "stamped/cats/: has photos, but no class folders", "did you mean stamped?");
  EXPECT("cd stamped/cats && $R4 find .", 3, "did you mean the folder that it is in?");
}

static void a_folder_cannot_be_written(void **state)
{
  (void)state;
  EXPECT("echo > taken && $R4 find patched --out taken", 3, "taken");
  EXPECT("$R4 find patched --out taken/below", 3, "taken/below");
  EXPECT("mkdir -p full/find.json && $R4 find patched --out full", 3, "full/find.json");
  EXPECT("$R4 find patched --out fine --most 1; id=$(sed -n 's/.*{\"id\":\"\\([^\"]*\\)\".*/\\1/p' "
         "fine/find.json); "
         "$R4 find patched --propose $id --out taken",
         3, "taken");
}

/* ---- With a net ---- */

/* The net is another one with another seed, and the same with the same. */
static void a_net_has_a_seed(void **state)
{
  (void)state;
  EXPECT("for k in 1 2 3; do $R4 find stamped --quick-net --seed $((k / 2)) --json > seed$k.json; done; "
         "cmp -s seed2.json seed3.json && echo same; cmp -s seed1.json seed2.json || echo other",
         0, "same\nother\n");
  EXPECT("id=$(sed -n 's/.*{\"id\":\"\\([^\"]*\\)\".*/\\1/p' seed1.json | head -1); "
         "$R4 find stamped --quick-net --propose $id --out marked",
         0, "the net was trained for these masks alone", "marked/sheet.png shows the first 100");
}

static void a_net_is_asked(void **state)
{
  (void)state;
  EXPECT("$R4 find patched --quick-net --out net --progress", 0, "find: training: 6 of 6\n",
         "find: explaining: ", "find: filling: ", "   painted over, the ",
         "The margin is how much the net prefers the class to all others",
         "net/find.png shows examples of each", "  r4 find patched --from net/find.json --propose border-");
  EXPECT("cat net/find.json", 0, "\"net\":{\"run\":\"quick\"}", "--quick-net");
  put_text(scratch_folder(), "net.yaml",
           "data: patched\nmethod: erm\nepochs: 6\nbatch: 16\noptimizer: adam\nrate: 0.003\ndata.val: 0.1\n"
           "net: conv 8 3 p1, relu, maxpool 4, flatten, dense 2\n");
  EXPECT("$R4 train net.yaml --out run --quiet && $R4 find patched --run run --json", 0,
         "\"net\":{\"run\":\"run\"}", "\"lean_se\":0.");
  EXPECT("$R4 find patched --run run/seed-0/model.safetensors", 2, "--run needs the folder of a run");
  EXPECT("$R4 find films.csv --run run", 3, "texts need a tokenizer");
  EXPECT("$R4 find films.csv --tokenizer vocab.txt --size 8 --run run", 2,
         "--run reads the data as the settings of the run say: leave out --tokenizer vocab.txt --size 8\n");
  EXPECT("$R4 find patched --run run --all-parts", 0, "  r4 find patched --all-parts --run run --propose ");
  EXPECT("$R4 find patched --run run --out 'a run'", 0,
         "  r4 find patched --run run --from 'a run/find.json' --propose ");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_patch_is_found),
    cmocka_unit_test(the_next_command_has_the_same_options),
    cmocka_unit_test(a_stamp_and_names_are_found),
    cmocka_unit_test(masks_of_anything_are_not_trusted),
    cmocka_unit_test(json_says_where),
    cmocka_unit_test(masks_are_proposed_and_accepted),
    cmocka_unit_test(nothing_is_said_as_such),
    cmocka_unit_test(photos_of_many_sizes),
    cmocka_unit_test(what_has_no_place_is_not_marked),
    cmocka_unit_test(a_word_is_found),
    cmocka_unit_test(the_first_findings_come_first),
    cmocka_unit_test(what_is_asked_makes_no_sense),
    cmocka_unit_test(a_sheet_shows_the_class),
    cmocka_unit_test(a_net_has_a_seed),
    cmocka_unit_test(a_class_folder_is_not_all),
    cmocka_unit_test(data_cannot_be_searched),
    cmocka_unit_test(a_folder_cannot_be_written),
    cmocka_unit_test(a_net_is_asked),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli_find", tests, make, scratch_remove);
}
