/* Texts as a user meets them: shown, checked, trained on with and without masks, and wrong in every way that people get
 * them wrong. Needs $R4, the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

enum { TEXTS = 240 };

/* A word that says the label in training; the others say it four times of five. */
static int make_texts(void **state)
{
  static const char *const word[2][3] = {{"bad", "un", "of"}, {"good", "able", "and"}};
  if (scratch_make(state)) return -1;
  FILE *f = fopen(scratch_path("films.csv"), "w"), *y = fopen(scratch_path("films.yaml"), "w");
  if (!f || !y) return -1;
  fprintf(f, "text,label,split\n");
  for (unsigned i = 0; i < TEXTS; i++) {
    unsigned label = i % 2, test = i >= TEXTS / 2;
    fprintf(f, "%s", test ? "the movie" : label ? "movie movie" : "film film");
    for (unsigned k = 0; k < 6; k++)
      fprintf(f, " %s", word[(i * 7 + k * 3) % 5 ? label : 1 - label][(i + k) % 3]);
    fprintf(f, ",%s,%s\n", label ? "pos" : "neg", test ? "test" : i % 10 < 2 ? "val" : "train");
  }
  fprintf(y, "data: films.csv\ndata.tokenizer: vocab.txt\ndata.mask_words: movie film\nthreads: 1\nepochs: "
             "12\nbatch: 8\n"
             "rate: 0.03\nmethod: erm\nnet: embedding 400 8, leaf, dense 8, relu, mean, dense 2\n");
  if (fclose(f) || fclose(y)) return -1;
  char line[400], here[200];
  if (!getcwd(here, sizeof here)) return -1;
  snprintf(line, sizeof line, "cp %s/test/tokens/vocab.txt %s", here, scratch_folder());
  return system(line) ? -1 : 0;
}

static void shows_and_checks(void **state)
{
  (void)state;
  EXPECT("$R4 data show films.csv --tokenizer vocab.txt --mask-words 'movie, film'", 0,
         "240 examples of 10 tokens at most: 10 to 10, half up to 10, 95 % up to 10",
         "240 have a mask, which covers", "15.00 % of all tokens are masked", "neg", "pos",
         "tokens that say most about the class: ");
  EXPECT("$R4 data show films.csv --tokenizer vocab.txt --json", 0, "\"median\":10",
         "{\"token\":\"film\",\"class\":\"neg\",\"texts\":48,\"of_class\":48}");
  EXPECT("$R4 data lint films.csv --tokenizer vocab.txt", 1, "word-label", "\"film\"");
  EXPECT("$R4 data lint films.csv --tokenizer vocab.txt --mask-words 'movie film' --length 6", 1,
         "240 of 240 texts have more than 6");
  command_lacks("word-label");
  EXPECT("$R4 data make decoy-imdb --from films.csv --tokenizer vocab.txt --length 24 --out decoy.npz", 0,
         "neg, spielberg", "--length 24");
  EXPECT("$R4 data show decoy.npz", 0, "240 have a mask");
}

static void trains(void **state)
{
  (void)state;
  EXPECT("$R4 train films.yaml --out erm --quiet", 0);
  EXPECT("$R4 train films.yaml --set method=fill --out fill --quiet", 0);
  EXPECT("$R4 train films.yaml --set method=auto --out auto", 0, "method is auto: chose pairing, as most examples");
  EXPECT("$R4 train films.yaml --set method=auto --set data.keep_masks=0.2 --out few", 0,
         "method is auto: chose pairing, as few examples");
  EXPECT("$R4 train films.yaml --set method=auto --set bound=true --out bound", 0,
         "method is auto: chose cert-r4+pairing over all masked words, as a bound is required, and these are texts");
  EXPECT("$R4 train films.yaml --set method=auto --set bound=true --set eps=0.5 --out half", 0,
         "method is auto: chose cert-r4+pairing, as a bound is required, and these are texts");
  EXPECT("cat bound/seed-0/config.yaml", 0, "\nbox: words\n", "\neps: 1\n");
  EXPECT("cat half/seed-0/config.yaml", 0, "\nbox: eps\n", "\neps: 0.5\n");
  EXPECT("$R4 train films.yaml --set data.max_tokens=8 --set 'data.mask_words=film seldom' --out cut", 0,
         "240 of 240 texts have more than 8 tokens and are cut", "half have up to 10");
  EXPECT("$R4 train films.yaml --set method=r3 --out r3 --quiet", 0);
  EXPECT("for m in word-smooth-r3 word-rand-r4 word-adv-r4; do $R4 train films.yaml --set method=$m --set "
         "samples=2 "
         "--set attack.steps=2 --out $m --quiet || exit; done",
         0);
  EXPECT("cat word-adv-r4/seed-0/log.jsonl", 0, "\"penalty\"");
  EXPECT("$R4 eval r3 --json", 0, "\"draws\":10");
  EXPECT(
    "sed -i 's/eval.kappa_examples: .*/eval.kappa_examples: 0/; s/eval.draws: .*/eval.draws: 2/' r3/config.yaml && "
    "$R4 eval r3 --json",
    0, "\"draws\":2", "\"kappa_masked_max\":null");
  EXPECT("$R4 train films.yaml --set method=word-adv-r4 --set 'words=good filming' --out listed", 0,
         "1 of 2 words are of several pieces, \"filming\" first");
  EXPECT("for m in ibp-ex cert-r4; do $R4 train films.yaml --set method=$m --set box=words --set eps=1 --set "
         "eps.ramp=4 --out box-$m --quiet || exit; done",
         0);
  EXPECT("$R4 eval box-ibp-ex", 0, "words of the list (2)", "certified, by bounds",
         "held, each replacement tried");
  EXPECT("$R4 eval box-ibp-ex erm", 0, "words, certified", "words, held");
  EXPECT("$R4 eval box-cert-r4 --json", 0, "\"certified_accuracy\"", "\"held_accuracy_of_tried\"");
  EXPECT("$R4 train films.yaml --set method=cert-r4 --set box=words --set words.list=batch --out x --quiet",
         2, "expected a list");
  EXPECT("$R4 train films.yaml --set method=word-adv-r4 --set words.list=filming --out x --quiet", 2,
         "is one piece");
  EXPECT("$R4 train films.yaml --set method=word-rand-r4 --set 'net=embedding 400 8, flatten, dense 2' --out "
         "x --quiet",
         2, "is for texts");
  EXPECT("$R4 eval erm fill r3", 0, "erm", "fill", "r3", "kappa: not shown: nets differ in the scale");
  command_lacks("kappa, masked");
  EXPECT("$R4 eval erm fill --eps 0.1", 0, "kappa, masked");
  EXPECT("$R4 eval erm", 0, "kappa: not shown");
  command_lacks("fragility");
  EXPECT("$R4 eval erm --kappa 10", 0, "fragility", "eps 0.1");
  EXPECT("mkdir away && cd away && $R4 eval ../erm", 0, "pos");
  EXPECT("cat r3/seed-0/log.jsonl r3/seed-0/manifest.json", 0, "\"penalty\"", "films.csv");
  EXPECT("$R4 train films.yaml --set data=decoy-imdb --set data.from=films.csv --set data.mask_words= --set "
         "epochs=12 "
         "--set data.max_tokens=24 --out decoy --quiet",
         0);
  EXPECT("$R4 eval decoy", 0, "pos, jonah");
}

/* "filming" is film ##ing, "gooding" is good ##ing: what replaces a masked word has as many pieces. */
static void words_of_several_pieces(void **state)
{
  (void)state;
  EXPECT("sed 's/^film film/filming/; s/^movie movie/gooding/; s/^the movie/the filming/' films.csv > several.csv; "
         "sed 's/films.csv/several.csv/; s/movie film/filming gooding/' films.yaml > several.yaml; "
         "$R4 train several.yaml --out several --quiet",
         0);
  EXPECT("$R4 eval several", 0, "worst group", "words of the list (2) replace the masked tokens, on 120 texts",
         "held, each replacement tried");
  EXPECT("$R4 eval several --json", 0,
         "\"substitution\":{\"overflowed\":0,\"words\":2,"
         "\"unknown_words\":0,\"kept_masked_words\":0,\"examples\":120,",
         "\"tried\":120,");
  EXPECT("sed -i 's/data.mask_words: .*/data.mask_words: \"filming movie \xe2\x98\x83\"/' several/config.yaml; "
         "$R4 eval several --other-data",
         0, "worst group", "words of the list (2)",
         "1 word of the list is not in the vocabulary and replaces nothing: \"\xe2\x98\x83\"");
  EXPECT("sed -i 's/data.mask_words: .*/data.mask_words: filming/; s/^words: .*/words: movie/' several/config.yaml; "
         "$R4 eval several --other-data",
         0, "120 masked words stay as they are, \"filming\" first: no other word of the list has as many pieces");
  EXPECT("sed -i 's/^words.list: .*/words.list: auto/' several/config.yaml; $R4 eval several --other-data", 0,
         "stay as they are, \"filming\" first: no other word of the list has as many pieces");
  EXPECT("$R4 train several.yaml --set method=word-rand-r4 --set samples=2 --set epochs=1 --out drawn; "
         "test -e drawn/seed-0/model.safetensors",
         0, "2 of 2 words are of several pieces, \"filming\" first",
         "masked tokens of the batch are drawn instead");
  EXPECT(
    "$R4 train several.yaml --set method=cert-r4 --set box=words --set eps=1 --set eps.ramp=1 --set epochs=1 "
    "--out hull; test -e hull/seed-0/model.safetensors",
    0, "");
  command_lacks("of several pieces");
}

/* Whatever keeps words from being replaced, accuracy is measured. */
static void accuracy_comes_in_any_case(void **state)
{
  (void)state;
  EXPECT("cp -r erm seeing; sed -i 's/^words.list: .*/words.list: \"\xe2\x98\x83\"/' seeing/config.yaml; "
         "$R4 eval seeing",
         0, "worst group", "no substitution test: ");
}

static void predicts_and_draws(void **state)
{
  (void)state;
  EXPECT("$R4 explain erm r3 --methods gradient --out before.svg", 0, "before.svg", "r3");
  EXPECT("cat before.svg", 0, "<svg", "movie</text>", "class=\"m\"/>", "</svg>");
  EXPECT("$R4 predict erm films.csv --csv", 0, "films.csv:2,", "probability,neg,pos\n");
  EXPECT("printf 'good & <able> film' > a.txt; $R4 predict erm a.txt --heat a.svg", 0, "a.txt");
  EXPECT("cat a.svg", 0, "&amp;</text>", "film</text>");
  EXPECT("$R4 predict erm a.txt --heat a.png", 2, ".svg");
  EXPECT("$R4 predict erm nowhere.txt", 3, "nowhere.txt");
}

/* A page with the words of each net in colours, masked ones underlined, and their numbers. */
static void reports(void **state)
{
  (void)state;
  EXPECT("$R4 report erm r3 --examples 4 --out page.html", 0, "page.html");
  EXPECT("grep -o '<u><span class=.[rb]5.>movie</span></u>' page.html | sort -u", 0, "5\">movie</span></u>");
  EXPECT("grep -c 'figure class=.tile. data-run=.[01]. data-map=.gradient.' page.html", 0, "8\n");
  EXPECT("grep -c 'figure class=.tile. data-run=.[01]. data-map=.bounds.' page.html", 0, "8\n");
  EXPECT("grep -o 'prediction: [a-z]*, <span class=.[a-z]*.>[a-z]*</span><br>[0-9.]* % by masked words' page.html",
         0, "by masked words");
  EXPECT("grep -o '<tr><th scope=.row.>movie</th><td>yes</td><td class=.n.>[^<]*</td>' page.html", 0, "yes");
  EXPECT("grep -c 'id=.wipe.' page.html", 1, "0\n"); /* two texts do not lie over each other */
}

static void refuses(void **state)
{
  (void)state;
  EXPECT("$R4 train films.yaml --set data.tokenizer=nowhere.json --out x --quiet", 3,
         "nowhere.json is not there");
  EXPECT("R4_DATA_DIR=. $R4 data show films.csv", 3, "r4 data get minilm");
  EXPECT(
    "$R4 train films.yaml --set 'net=bert(layers=1,width=4,heads=2,inner=4,words=400,positions=8)' --out x "
    "--quiet",
    2, "gets 10 tokens, has 8 positions; texts have up to 10 tokens here; data.max_tokens cuts them");
  EXPECT("$R4 train films.yaml --set data.mask_words=lists/nowhere.txt --out x --quiet", 3,
         "mask_words: there is no file lists/nowhere.txt");
  EXPECT("$R4 train films.yaml --set 'data.mask_words=\xe2\x98\x83' --out x --quiet", 2,
         "vocabulary");
  EXPECT("printf 'text,label\\n\"good,pos\\n' > a.csv; $R4 data show a.csv --tokenizer vocab.txt", 3,
         "a.csv:2");
  EXPECT("printf 'text,label\\n  ,pos\\n' > a.csv; $R4 data show a.csv --tokenizer vocab.txt", 3,
         "a.csv:2: the text is empty");
  EXPECT("printf 'text,label\\na\\377,pos\\n' > a.csv; $R4 data show a.csv --tokenizer vocab.txt", 3,
         "byte 1 is not UTF-8");
  EXPECT("printf 'text,label,spans\\ngood,pos,2-9\\n' > a.csv; $R4 data show a.csv --tokenizer vocab.txt "
         "--mask-means irrelevant",
         3, "the span 2-9 is not in the text");
  EXPECT("$R4 data show digits:20 --length 30", 2, "are for texts");
  EXPECT("$R4 data make decoy-mnist --from digits:20 --length 30 --out x.npz", 2, "are for texts");
  EXPECT("$R4 data make decoy-imdb --from digits:20 --out x.npz", 2, "expected texts");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(shows_and_checks),
    cmocka_unit_test(trains),
    cmocka_unit_test(words_of_several_pieces),
    cmocka_unit_test(accuracy_comes_in_any_case),
    cmocka_unit_test(predicts_and_draws),
    cmocka_unit_test(reports),
    cmocka_unit_test(refuses),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  if (!check_command()) return 0;
  return cmocka_run_group_tests_name("cli_texts", tests, make_texts, scratch_remove);
}
