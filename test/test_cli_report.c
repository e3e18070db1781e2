/* "r4 report" as a user meets it, on small runs that "r4 train" makes first. Needs $R4, the command. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "pets.h"

static int train(void **state)
{
  if (scratch_make(state)) return 1;
  return command_run(
    "printf 'data: decoy-mnist\ndata.from: digits:300\npublished.shades: ross\ndata.val: "
    "0.1\nepochs: 2\nbatch: 50\n"
    "net: dense 8, relu, dense 10\nmethod: erm\n' > erm.yaml && printf 'base: erm.yaml\nmethod: "
    "cert-r4\nlambda: 1\npenalty.cap: false\n' > cert.yaml && "
    "printf 'base: erm.yaml\ndata.clean: true\n' > clean.yaml && $R4 train erm.yaml --out "
    "erm --seeds 2 --quiet && "
    "$R4 train cert.yaml --out cert --quiet && $R4 train clean.yaml --out clean --quiet");
}

static void a_page_is_made(void **state)
{
  (void)state;
  EXPECT("$R4 report erm cert", 0, "measuring seed 1 of erm", "\nreport.html\n");
  EXPECT("$R4 report erm cert --force --title 'A <b> title' && "
         "grep -c '<h1>A &lt;b&gt; title</h1>' report.html",
         0, "report.html\n1");
  command_lacks("measuring"); /* what was measured is kept */
  EXPECT("grep -o 'r4 train [a-z]*/config.yaml --set seed=0 --seeds 2 --out again/erm' report.html", 0,
         "again/erm");
  EXPECT("grep -c 'id=.compare.' report.html; grep -c 'details class=.theory.' report.html; grep -c 'images shown, ' "
         "report.html",
         0, "1\n1\n1\n");
  EXPECT("grep -c 'Only some classes have masks' report.html", 1, "0");
}

static void what_was_not_measured_is_said(void **state)
{
  (void)state;
  EXPECT("$R4 report erm clean --out unlike.html", 0, "r4 report: clean was measured on other data (", "than the "
         "page is about");
  EXPECT("$R4 report erm cert --out alike.html", 0);
  command_lacks("other data");
  pets_make((struct pets){.folder = "some", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_settings("some.yaml", "some", "");
  EXPECT("rm some/masks/*[13579].png; $R4 train some.yaml --out some-run --quiet && $R4 report some-run && "
         "cat some-run/report.html", 0,
         "Only some classes have masks: what may give the others away (dog) was not measured.",
         ", label dog: some-run is"); /* examples are not of the masked class alone */
}

/* A page about several belongs to none of them: it is written here, and over nothing but a page. */
static void several_runs_have_a_page_here(void **state)
{
  (void)state;
  EXPECT("ls erm/report.html", 2, "");
  EXPECT("echo mine > report.html && $R4 report erm cert", 2, "report.html", "--force");
  EXPECT("cat report.html", 0, "mine\n");
  EXPECT("$R4 report erm && $R4 report erm && ls erm/report.html", 0, "erm/report.html\n");
  EXPECT("rm report.html && $R4 report erm cert && $R4 report erm cert", 0, "\nreport.html\n");
  EXPECT("echo mine > erm/report.html && $R4 report erm", 2, "erm/report.html", "--force");
  EXPECT("$R4 report erm --force", 0, "erm/report.html\n");
}

/* Where data were on the machine of whoever made the page is nobody's concern. */
static void pages_name_no_places(void **state)
{
  (void)state;
  pets_make((struct pets){.folder = "deep/pets", .cat = "cat", .dog = "dog", .test = 6, .masked = true});
  pets_settings("pets.yaml", "deep/pets", "");
  EXPECT("$R4 train pets.yaml --out pets-run --quiet && $R4 report pets-run --out pets.html && "
         "grep -o 'folder [^<]*images, masks' pets.html",
         0, "folder pets, 22 images, masks\nfolder pets, 22 images, masks\n");
  EXPECT("grep -c \"$PWD\" pets.html", 1, "0");
}

/* r4 eval measures all examples, and the page says so. */
static void figures_of_eval_are_used(void **state)
{
  (void)state;
  EXPECT("rm -f cert/seed-0/eval.json && $R4 eval cert >/dev/null && $R4 report cert --out cert.html", 0,
         "cert.html");
  command_lacks("measuring");
  EXPECT("echo ' ' >> cert/seed-0/eval.json && $R4 report cert --out cert.html --force", 0,
         "measuring seed 0");
}

static void other_data_stand_apart(void **state)
{
  (void)state;
  EXPECT("$R4 report clean erm cert --out apart.html && grep -o 'not comparable' apart.html | uniq", 0,
         "not comparable");
  EXPECT("sed 's/<[^>]*>//g' apart.html | grep -o 'Trained without masks: [a-z]*'", 0, "masks: erm");
  command_lacks("clean");
}

/* Folders of this machine are on no page: not in settings, commands or notes. */
static void folders_are_on_no_page(void **state)
{
  (void)state;
  EXPECT("mkdir -p none && $R4 report $PWD/erm $PWD/cert --ablations $PWD/none --out folders.html; "
         "$R4 report $PWD/erm $PWD/cert --out folders.html --force && grep -c \"$PWD\" folders.html",
         1, "\n0\n");
  EXPECT("grep -o 'r4 train erm/config.yaml' folders.html", 0, "r4 train erm/config.yaml");
}

static void runs_that_cannot_be_read_are_named(void **state)
{
  (void)state;
  EXPECT("$R4 report erm nowhere --out some.html", 3, "nowhere/config.yaml", "some.html");
  EXPECT("grep -o 'nowhere is left out' some.html", 0, "left out");
  EXPECT("cp -r erm part && rm part/seed-1/model.safetensors && $R4 report part --out part.html && "
         "grep -o 'Seed 1 of part has no model' part.html",
         0, "Seed 1 of part has no model");
  EXPECT(
    "rm part/seed-0/model.safetensors && $R4 report part --out none.html; code=$?; ls none.html; exit $code",
    3, "no seed of this run has a model yet");
  EXPECT("cp -r erm bad && printf x > bad/seed-0/model.safetensors && $R4 report erm bad --out bad.html", 3,
         "bad/seed-0");
}

/* A folder of several, one of one, a file; what cannot be read is named, and the page made all the same. */
static void ablations_are_shown(void **state)
{
  (void)state;
  EXPECT("seal() { printf '{\"experiment\":\"e\",\"ablation\":\"%s\",\"r4\":\"" R4_VERSION
         "\",\"form\":2,\"quick\":false,"
         "\"seeds\":2,\"lines\":[]' $1 > text; printf '%s,\"sha256\":\"%s\"}\\n' \"$(cat text)\" $(sha256sum "
         "< text | cut "
         "-c1-64); }; mkdir -p ab/masks ab/runs 'ab/a <b>' && seal masks > ab/masks/results.json && "
         "seal size > 'ab/a <b>/results.json' && chmod a-w ab/masks && "
         "$R4 report cert --ablations ab --out ab.html && grep -o '<h3>[a-z]*</h3>' ab.html",
         0, "<h3>size</h3>\n<h3>masks</h3>\n");
  EXPECT("$R4 report cert --ablations ab/masks --ablations 'ab/a <b>/results.json' --out ab.html --force && "
         "grep -o "
         "'<h3>[a-z]*</h3>\\|--ablations ab.*html' ab.html",
         0, "<h3>masks</h3>\n<h3>size</h3>\n",
         "--ablations ab/masks --ablations &#39;ab/a &lt;b&gt;/results.json&#39;");
  EXPECT(
    "echo '{\"lines\":[]}' > 'ab/a <b>/results.json'; $R4 report cert --ablations ab --out ab.html --force",
    3, "ab/a <b>/results.json: does not name the r4 that made it", "ab.html");
  EXPECT("grep -o '<h3>[a-z]*</h3>\\|ab/a .* is left out' ab.html", 0,
         "ab/a &lt;b&gt;/results.json is left out", "<h3>masks</h3>");
  EXPECT("$R4 report cert --ablations nowhere --out ab.html --force", 3, "nowhere: no results.json");
  EXPECT("chmod u+w ab/masks", 0, ""); /* who is not root removes nothing from it otherwise */
}

static void errors_and_codes(void **state)
{
  (void)state;
  EXPECT("$R4 report", 2, "needs RUN");
  EXPECT("$R4 report erm --out page.txt", 2, ".html");
  EXPECT("echo mine > mine.html && $R4 report erm --out mine.html", 2, "mine.html");
  EXPECT("cat mine.html", 0, "mine");
  EXPECT("$R4 report erm --out nowhere/page.html", 3, "nowhere/page.html");
  EXPECT("$R4 report erm --split dev", 2, "dev");
  EXPECT("$R4 help report", 0, "Usage: r4 report RUN... [OPTIONS]");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_page_is_made),
    cmocka_unit_test(what_was_not_measured_is_said),
    cmocka_unit_test(several_runs_have_a_page_here),
    cmocka_unit_test(pages_name_no_places),   cmocka_unit_test(figures_of_eval_are_used),
    cmocka_unit_test(other_data_stand_apart), cmocka_unit_test(folders_are_on_no_page),
    cmocka_unit_test(runs_that_cannot_be_read_are_named),
    cmocka_unit_test(ablations_are_shown),    cmocka_unit_test(errors_and_codes),
  };
  if (!check_command()) return 0;
  return cmocka_run_group_tests(tests, train, scratch_remove);
}
