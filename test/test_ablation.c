/* Ablations on a page: what is read, where it stands, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "page_case.h"

#define OURS "\"r4\":\"" R4_VERSION "\",\"form\":2,"
#define HEAD "{" OURS "\"experiment\":\"my <b>\",\"ablation\":\"masks\",\"epochs\":1,\"seeds\":2,\"lines\":["
#define LINE(name, x, points) \
  "{\"name\":\"" name "\",\"panel\":\"fixed\",\"x\":\"" x "\",\"points\":[" points "]}"
#define POINT(x, worst, sd, kappa, more)                                                \
  "{\"x\":\"" x "\",\"worst_group_accuracy\":" worst ",\"worst_group_accuracy_sd\":" sd \
  ",\"kappa_masked_max\":" kappa ",\"kappa_masked_max_sd\":0" more "}"

/* As r4 ablate writes it: an object ends with the sum of what stands before. */
static r4_ablation *read_text(const char *text, r4_error *e)
{
  char path[1200], hex[R4_HASH_SIZE];
  FILE *f = fopen(scratch_path("results.json"), "w");
  size_t n = strlen(text);
  bool object = n && text[n - 1] == '}';
  if (object) n--;
  r4_hash(text, n, hex);
  fprintf(f, "%.*s", (int)n, text);
  if (object) fprintf(f, ",\"sha256\":\"%s\"}\n", hex);
  fclose(f);
  snprintf(path, sizeof path, "%s", scratch_path("results.json"));
  return r4_ablation_read(path, e);
}

/* The section of a page of these. */
static char *section_of(const char *text)
{
  struct page_case c = {.run_name = {"erm", "r3", "cert-r4"}, .class_name = {"a", "b"}};
  r4_error e = {0};
  r4_ablation *a = read_text(text, &e);
  if (!a) fail_msg("%s", e.text);
  page_case_make(&c);
  char *page =
    page_case_write(&c, &(r4_report_options){.ablations = 1, .ablation = (const r4_ablation *const *)&a});
  char *start = strstr(page, "<section id=\"ablations\""), *end = start ? strstr(start, "</section>") : NULL;
  assert_non_null(end);
  assert_non_null(strstr(page, "<a href=\"#ablations\">"));
  *end = 0;
  char *section = strdup(start);
  r4_mem_free(page);
  r4_ablation_free(a);
  page_case_free(&c);
  return section;
}

static void assert_shows(const char *text, size_t n, const char *const *part)
{
  char *section = section_of(text);
  for (size_t k = 0; k < n; k++)
    if (!strstr(section, part[k])) fail_msg("no %s in:\n%s", part[k], section);
  free(section);
}
#define SHOWS(text, ...) \
  assert_shows(text, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

static void assert_lacks(const char *text, const char *part)
{
  char *section = section_of(text);
  if (strstr(section, part)) fail_msg("%s in:\n%s", part, section);
  free(section);
}

/* The plane is 292 wide, from 52 on, and 174 high, from 10 on: 50 % stand at 97, with a deviation of 10 from 79.6 to
 * 114.4. */
#define TWO_LINES                                                                                    \
  HEAD LINE("Cert & co", "data.keep_masks",                                                          \
            POINT("0", "0.5", "0.1", "10", "") "," POINT("1", "1", "0", "0.001",                     \
                                                       "")) "," LINE("R3", "data.keep_masks",        \
                                                                     POINT("0", "0", "0", "\"inf\"", \
                                                                           ",\"constant_seeds\":1")) "]}"

static void lines_have_bands_and_numbers(void **state)
{
  (void)state;
  SHOWS(TWO_LINES, "<h3>masks</h3>", "my &lt;b&gt;, 2 seeds for each point.",
        "<path class=\"line s0\" d=\"M52.0 97.0L344.0 10.0\"/>",
        "<path class=\"band s0\" d=\"M52.0 114.4L344.0 10.0L344.0 10.0L52.0 79.6Z\"/>",
        "<figcaption>fixed: worst group, in per cent</figcaption>", "<figcaption>fixed: kappa</figcaption>",
        "<figure data-file=\"ablation-masks-fixed-kappa\">", ">Cert &amp; co</th>",
        "<td class=\"n\">50.0 \u00b1 10.0</td><td class=\"n\">0.0 \u00b1 0.0 *</td>",
        "<td class=\"n\">inf *</td>", "A star marks nets that collapsed to one class.",
        "<summary>Numbers</summary>");
}

/* kappa: a logarithm, from 0.001 to 10, with 0.1 in the middle. */
static void kappa_stands_on_a_logarithm(void **state)
{
  (void)state;
  SHOWS(TWO_LINES, "<path class=\"line s0\" d=\"M52.0 10.0L344.0 184.0\"/>");
  SHOWS(HEAD LINE("R3", "x",
                  POINT("0", "0", "0", "10", "") "," POINT("1", "0", "0", "0.1", "") "," POINT("2", "0", "0", "0.001",
                                                                                              "")) "]}",
        "<path class=\"line s0\" d=\"M52.0 10.0L198.0 97.0L344.0 184.0\"/>");
}

static void one_seed_has_no_band(void **state)
{
  (void)state;
  static const char text[] =
    "{" OURS "\"experiment\":\"e\",\"ablation\":\"m\",\"epochs\":0.2,\"seeds\":1,\"lines\":[" LINE(
      "R3", "x", POINT("0", "0.5", "0", "1", "") "," POINT("1", "0.6", "0", "1", "")) "]}";
  SHOWS(text, "e, 1 seed for each point, trained for 20\u00a0% of the usual epochs: the variation between",
        "<td class=\"n\">60.0</td>");
  assert_lacks(text, "class=\"band");
}

/* 0.01, 0.1 and 1 at the same distance, as would be 0, 0.01 and 1: numbers beside each other. Labels stand in place of
 * values. */
static void axes_fit_their_values(void **state)
{
  (void)state;
#define THREE(a, b, c) \
  POINT(a, "0", "0", "1", "") "," POINT(b, "0.5", "0", "1", "") "," POINT(c, "1", "0", "1", "")
  SHOWS(HEAD LINE("R3", "rate", THREE("0.01", "0.1", "1")) "]}", "M52.0 184.0L198.0 97.0L344.0 10.0");
  SHOWS(HEAD LINE("R3", "rate", THREE("0", "0.001", "1")) "]}", "L198.0 97.0L", ">0.001</text>");
  SHOWS(HEAD LINE("R3", "rate", THREE("1", "2", "4")) "]}", "M52.0 184.0L149.3 97.0L344.0 10.0");
  SHOWS(HEAD LINE("R3", "net",
                  POINT("dense 4, relu, dense 2", "0", "0", "1",
                        ",\"label\":\"one <i>\"") "," POINT("dense 5", "0.5", "0", "1", "")) "]}",
        ">one &lt;i&gt;</text>", ">dense 5</text>", "<th scope=\"row\">one &lt;i&gt;</th>");
}

static void two_settings_are_cells(void **state)
{
  (void)state;
#define CELL(x, y, worst) "{\"x\":\"" x "\",\"y\":\"" y "\",\"worst_group_accuracy\":" worst "}"
  static const char text[] = HEAD "{\"name\":\"R3\",\"x\":\"masks\",\"y\":\"decay\",\"points\":[" CELL(
    "0", "1e-4", "0") "," CELL("1", "1e-4", "1") "," CELL("0", "1", "null") "]}]}";
  SHOWS(text, "fill-opacity=\"0.030\"", "fill-opacity=\"0.450\"", ">100</text>", ">1e-4</text>",
        ">decay by masks</th>", "<figcaption>R3: worst group, in per cent</figcaption>",
        "<td class=\"n\">none</td><td class=\"n\"></td>");
  char *section = section_of(text);
  size_t cells = 0;
  for (const char *at = section; (at = strstr(at, "class=\"cell\"")); at++) cells++;
  assert_int_equal(cells, 2);
  free(section);
}

static void other_files_are_refused(void **state)
{
  (void)state;
  static const struct {
    const char *text, *why;
  } sample[] = {
    {"", "results.json: "},
    {"[]", "does not name the r4 that made it: not results of r4 ablate"},
    {"{\"r4\":\"9.9\"}", "is from r4 9.9, this is r4 " R4_VERSION},
    {"{\"r4\":\"" R4_VERSION "\",\"experiment\":\"e\"}", "expected \"form\":2, with accuracies as shares"},
    {"{" OURS "\"experiment\":\"e\"}",
     "experiment, ablation, epochs, seeds or lines are missing: not results of r4 ablate"},
    {"{" OURS "\"experiment\":\"e\",\"ablation\":\"m\",\"seeds\":0,\"lines\":[]}", "seeds"},
    {"{" OURS "\"experiment\":\"e\",\"ablation\":\"m\",\"epochs\":0.2,\"seeds\":1,\"lines\":{}}", "lines"},
    {"{" OURS "\"experiment\":\"e\",\"ablation\":\"m\",\"epochs\":0,\"seeds\":1,\"lines\":[]}", "epochs"},
    {HEAD "{\"name\":\"R3\"}]}", "a line without name, x or points"},
    {HEAD "7]}", "a line without name, x or points"},
    {HEAD LINE("R3", "x", "{\"x\":0.5}") "]}", "a point without its place on the axes"},
    {HEAD LINE("R3", "x", "{\"x\":\"1\",\"y\":\"1\"}") "]}", "a point without its place on the axes"},
    {HEAD LINE("R3", "x", POINT("0", "0.5", "0.1", "1", "")), "expected \",\" or \"]\""},
  };
  for (size_t k = 0; k < sizeof sample / sizeof *sample; k++) {
    r4_error e = {0};
    assert_null(read_text(sample[k].text, &e));
    if (!strstr(e.text, sample[k].why)) fail_msg("\"%s\", expected \"%s\"", e.text, sample[k].why);
  }
  r4_error e = {0};
  assert_null(r4_ablation_read(scratch_path("nowhere.json"), &e));
  assert_int_equal(e.status, R4_E_IO);
}

/* A figure that was changed, or a file without its sum. */
static void edited_files_are_refused(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_ablation_free(read_text(TWO_LINES, &e));
  scratch_patch("results.json", "accuracy\":0.5", "accuracy\":0.6", 13);
  assert_null(r4_ablation_read(scratch_path("results.json"), &e));
  if (!strstr(e.text, "results.json: was edited, or is from an older r4")) fail_msg("%s", e.text);
  assert_null(read_text(TWO_LINES "\n", &e)); /* does not end in a bracket: no sum is added */
  if (!strstr(e.text, "was edited, or is from an older r4")) fail_msg("%s", e.text);
}

static void memory_may_run_out(void **state)
{
  (void)state;
  r4_error e = {0};
  r4_ablation_free(read_text(TWO_LINES, &e));
  for (long n = 1;; n++) {
    e = (r4_error){0};
    r4_mem_fail_at(n);
    r4_ablation *a = r4_ablation_read(scratch_path("results.json"), &e);
    r4_mem_fail_at(0);
    if (a) {
      r4_ablation_free(a);
      assert_true(n > 5);
      return;
    }
    assert_int_equal(e.status, R4_E_MEMORY);
  }
}

/* As a file: both panels beside each other, then their kappas, and a legend; heat maps have a title. */
static void plots_are_files_as_well(void **state)
{
  (void)state;
  static const char *const part[] = {">my &lt;b&gt;: masks</text>", ">fixed</text>", ">worst group, %</text>",
                                     ">kappa</text>", ">Cert &amp; co</text>", ">data.keep_masks</text>"};
  r4_error e = {0};
  r4_ablation *a = read_text(TWO_LINES, &e);
  r4_plot *p = r4_ablation_plot(a);
  char *svg = r4_plot_svg(p);
  for (size_t k = 0; k < sizeof part / sizeof *part; k++)
    if (!strstr(svg, part[k])) fail_msg("no %s in:\n%s", part[k], svg);
  r4_string_free(svg);
  r4_plot_free(p);
  r4_ablation_free(a);
  assert_null(r4_ablation_plot(NULL));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_have_bands_and_numbers), cmocka_unit_test(kappa_stands_on_a_logarithm),
    cmocka_unit_test(one_seed_has_no_band),         cmocka_unit_test(axes_fit_their_values),
    cmocka_unit_test(two_settings_are_cells),       cmocka_unit_test(other_files_are_refused),
    cmocka_unit_test(edited_files_are_refused),     cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(plots_are_files_as_well),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests_name("ablation", tests, scratch_make, scratch_remove);
}
