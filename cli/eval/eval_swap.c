/* The swap test in "r4 eval". */
#include <math.h>
#include <string.h>

#include "eval/eval.h"
#include "experiment/figures.h"
#include "table_out.h"

/* ---- What is asked for ---- */

static bool find_content(const char *word, size_t length, r4_fill *kind)
{
  const char *name;
  for (int k = R4_FILL_NONE + 1; (name = r4_fill_name((r4_fill)k)); k++) {
    *kind = (r4_fill)k;
    if (strlen(name) == length && !strncmp(name, word, length)) return true;
  }
  return false;
}

static bool has_content(const struct contents *c, r4_fill kind)
{
  for (size_t k = 0; k < c->n; k++)
    if (c->kind[k] == kind) return true;
  return false;
}

bool swap_contents(const char *list, struct contents *to)
{
  *to = (struct contents){0};
  if (!*list) list = "swap";
  if (!strcmp(list, "none")) return true;
  for (const char *word = list;; word++) {
    size_t length = strcspn(word, ",");
    r4_fill kind;
    if (!find_content(word, length, &kind)) {
      fprintf(
        stderr,
        "r4 eval: --swap: \"%.*s\", expected none, or swap, blank, mean, noise, colour, blur or paste, several "
        "with commas\n",
        (int)(length < 60 ? length : 60), word);
      return false;
    }
    if (!has_content(to, kind)) to->kind[to->n++] = kind;
    word += length;
    if (!*word) return true;
  }
}

/* ---- Text ---- */

/* flipped / examples or lost / found over the seeds, with the c-th content; of a group, or of all if it is -1. */
static r4_mean_sd share_of(const struct evaluation *v, size_t c, int32_t group, bool lost)
{
  double x[MAX_SEEDS];
  for (size_t k = 0; k < v->summary.seeds; k++)
    x[k] = (lost ? r4_swap_lost : r4_swap_flipped)(&v->measured[k].swapped[c], 1, group).mean;
  return r4_mean_sd_of(v->summary.seeds, x);
}

/* "81.20 +- 0.30 %  8120 of 10000" */
static void add_share(r4_table *t, const struct evaluation *v, size_t c, int32_t group, bool lost)
{
  char text[FIGURE_SIZE];
  double part = 0, all = 0, seeds = (double)v->summary.seeds;
  for (size_t k = 0; k < v->summary.seeds; k++) {
    const r4_swapped *s = &v->measured[k].swapped[c];
    for (size_t g = 0; g < s->groups; g++) {
      if (group >= 0 && g != (size_t)group) continue;
      part += (lost ? s->lost[g] : s->flipped[g]) / seeds;
      all += (double)(lost ? s->found[g] : s->examples[g]) / seeds;
    }
  }
  r4_mean_sd share = share_of(v, c, group, lost);
  if (isnan(share.mean))
    cell(t, "none correct");
  else
    cell(t, "%s %%  %.4g of %.6g", percent_text(share, 6, text), part, all);
}

static void add_group(r4_table *t, const struct evaluation *v, size_t c, int32_t group)
{
  r4_table_cell(t, group < 0 ? "all" : r4_data_group_name(v->data, (size_t)group));
  add_share(t, v, c, group, false);
  add_share(t, v, c, group, true);
}

/* Masked content of training examples, which have masks where these may have none. */
static void print_paste_title(const struct evaluation *v, const r4_swapped *s)
{
  printf("\n"
         "swap test: masked content of training examples of other classes is pasted on (%zu donors, %d draws each)\n",
         s->donors, s->draws);
  if (s->pasted < r4_data_count(v->data))
    printf("%zu of %zu examples; for the rest, no other class has masked content\n", s->pasted,
           r4_data_count(v->data));
}

static void print_title(const struct evaluation *v, const r4_swapped *s)
{
  if (s->content == R4_FILL_SWAP)
    printf("\nswap test: masked content is replaced by that of other classes (%zu donors, %d draws each)\n",
           s->donors, s->draws);
  else
    printf("\nswap test: masked content is replaced by %s (%d draw%s each)\n", r4_fill_name(s->content),
           s->draws, s->draws == 1 ? "" : "s");
  if (s->pasted)
    printf("pasted on %zu example%s without a mask, where the donor has it\n", s->pasted,
           s->pasted == 1 ? "" : "s");
  if (s->inside + s->pasted < r4_data_count(v->data))
    printf("%zu of %zu examples; the rest have no mask, or no other class has masked content\n",
           s->inside + s->pasted, r4_data_count(v->data));
}

/* "89 of 95", mean over seeds, of what is lost by removal. */
static void add_removed_row(r4_table *t, const struct evaluation *v, size_t c, int32_t group)
{
  char text[FIGURE_SIZE];
  double x[MAX_SEEDS], part = 0, all = 0, seeds = (double)v->summary.seeds;
  for (size_t k = 0; k < v->summary.seeds; k++) {
    const r4_swapped *s = &v->measured[k].swapped[c];
    x[k] = r4_swap_removed(s, 1, group).mean;
    part += s->removed_lost[group] / seeds, all += (double)s->removed_found[group] / seeds;
  }
  r4_mean_sd share = r4_mean_sd_of(v->summary.seeds, x);
  r4_table_cell(t, r4_data_group_name(v->data, (size_t)group));
  if (isnan(share.mean))
    cell(t, "none correct");
  else
    cell(t, "%s %%  %.4g of %.6g", percent_text(share, 6, text), part, all);
}

/* An exchange cannot show whether a net needs what only one class has. */
static int print_removed(const struct evaluation *v, size_t c, int name_width)
{
  const r4_swapped *s = eval_swapped(v, c);
  if (!s->removed) return EXIT_DONE;
  printf("\nremoval: masked content that other classes hardly have is replaced by what examples of other classes have "
         "in that place (%zu examples)\n",
         s->removed);
  r4_table *t = r4_table_new();
  r4_table_column(t, "", 'l', name_width);
  r4_table_column(t, "correct predictions lost", 'l', 0);
  for (size_t g = 0; g < s->groups; g++)
    if (s->removed_examples[g]) add_removed_row(t, v, c, (int32_t)g);
  return table_end(stdout, "eval", t, R4_TABLE_PLAIN);
}

static int print_content(const struct evaluation *v, size_t c, int name_width)
{
  const r4_swapped *s = eval_swapped(v, c);
  (s->content == R4_FILL_PASTE ? print_paste_title : print_title)(v, s);
  r4_table *t = r4_table_new();
  r4_table_column(t, "", 'l', name_width);
  r4_table_column(t, "predictions changed", 'l', 0);
  r4_table_column(t, "correct predictions lost", 'l', 0);
  for (size_t g = 0; g < s->groups; g++)
    if (s->examples[g]) add_group(t, v, c, (int32_t)g);
  add_group(t, v, c, -1);
  int code = table_end(stdout, "eval", t, R4_TABLE_PLAIN);
  return code ? code : print_removed(v, c, name_width);
}

void swap_print_none(const struct evaluation *v, const char *before)
{
  const char *none = v->contents.n ? eval_swapped(v, 0)->none : NULL;
  if (none && v->swap_asked) printf("%sswap test: none, as %s\n", before, none);
  if (none && v->elsewhere && !has_content(&v->contents, R4_FILL_PASTE))
    printf("%sthe %s part has no masks, but %zu training examples do: --swap paste pastes their masked content "
           "on these\n",
           before, v->split, v->elsewhere);
}

/* By content of other classes, as in validation: swapped, or else pasted; NaN: neither was tried. */
static double swap_lost(const struct evaluation *v)
{
  double lost = NAN;
  for (size_t c = 0; c < v->contents.n; c++) {
    const r4_swapped *s = eval_swapped(v, c);
    bool swap = s->content == R4_FILL_SWAP, paste = s->content == R4_FILL_PASTE && isnan(lost);
    if (!s->none && (swap || paste)) lost = share_of(v, c, -1, true).mean;
  }
  return lost;
}

/* The same by removal; NaN: no class has masked content of its own. */
static double removed_lost(const struct evaluation *v)
{
  for (size_t c = 0; c < v->contents.n; c++) {
    const r4_swapped *s = eval_swapped(v, c);
    if (s->content == R4_FILL_SWAP && !s->none && s->removed)
      return r4_value_over(v->measured, v->summary.seeds, "removed_lost_share").mean;
  }
  return NAN;
}

static r4_judgement judge(const struct evaluation *v)
{
  r4_outcome known[MAX_SEEDS];
  size_t n = 0;
  for (size_t k = 0; k < v->run->seeds; k++)
    if (v->outcomes.known[k]) known[n++] = v->outcomes.of[k];
  r4_judgement j = r4_judge(known, n, fmax(swap_lost(v), removed_lost(v)));
  if (v->summary.constant == v->summary.seeds) j.verdict = R4_VERDICT_COLLAPSED;
  return j;
}

/* Words have no blank, and no place to paste on that is not a word. */
static bool has_others(const struct evaluation *v)
{
  return !r4_data_vocabulary(v->data);
}

bool swap_may_show_more(const struct evaluation *v)
{
  return judge(v).hidden && has_others(v);
}

/* Other contents, where that of other classes shows little. */
static void print_others(const struct evaluation *v)
{
  size_t others = 0;
  for (size_t c = 0; c < v->contents.n; c++) {
    const r4_swapped *s = eval_swapped(v, c);
    if (s->content == R4_FILL_SWAP || s->none) continue;
    printf("%s %.1f %% with %s", others++ ? "," : ";", 100 * share_of(v, c, -1, true).mean, r4_fill_name(s->content));
  }
  if (!others && has_others(v)) printf("; --swap paste,blank may show more");
}

static void print_judgement(const struct evaluation *v, r4_judgement j)
{
  double lost = swap_lost(v), removed = removed_lost(v);
  if (isnan(lost))
    printf("%s, by validation: there it lost %.1f %% of its correct predictions when masked content was exchanged",
           r4_verdict_text(j.by_validation), 100 * j.validation);
  else if (j.hidden)
    printf("%s: in validation it lost %.1f %% of its correct predictions, and here the swap test shows %.1f %%, "
           "probably because masked content says little of the class in %s",
           r4_verdict_text(j.verdict), 100 * j.validation, 100 * lost, v->split);
  else
    printf("%s: it loses %.1f %% of its correct predictions when masked content is exchanged",
           r4_verdict_text(j.verdict), 100 * lost);
  if (j.verdict == R4_VERDICT_REACTS)
    printf("; in validation, content of another class than its own cost %.1f %%, so its class is not the cause",
           100 * j.followed);
  if (j.hidden)
    print_others(v);
  else if (!isnan(lost) && !isnan(j.validation) && j.verdict != R4_VERDICT_REACTS)
    printf(", %.1f %% in validation", 100 * j.validation);
  if (!isnan(lost) && !isnan(removed))
    printf("; %.1f %% where content that other classes hardly have is removed", 100 * removed);
  printf("%s\n", j.doubtful ? "; but the masks may mean the reverse (r4 data lint says why)" : "");
}

void swap_print_verdict(const struct evaluation *v, const char *prefix)
{
  r4_judgement j = judge(v);
  if (j.verdict == R4_VERDICT_COLLAPSED) return; /* of which others speak */
  if (j.verdict == R4_VERDICT_NONE && isnan(j.validation)) return;
  printf("%s", prefix);
  print_judgement(v, j);
}

int swap_print(const struct evaluation *v, int name_width)
{
  int code = EXIT_DONE;
  swap_print_none(v, "\n");
  for (size_t k = 0; k < v->contents.n && !code; k++)
    if (!eval_swapped(v, k)->none) code = print_content(v, k, name_width);
  if (!code) swap_print_verdict(v, "\n");
  return code;
}

/* ---- JSON ---- */

static void add_shares(r4_json *w, const struct evaluation *v, size_t c, int32_t group)
{
  json_mean_sd(w, "flipped_share", share_of(v, c, group, false));
  json_mean_sd(w, "lost_share", share_of(v, c, group, true));
}

static void add_content(r4_json *w, const struct evaluation *v, size_t c)
{
  const r4_swapped *s = eval_swapped(v, c);
  r4_json_open(w, r4_fill_name(s->content), '{');
  r4_json_whole(w, "donors", (int64_t)s->donors);
  r4_json_whole(w, "draws", s->draws);
  r4_json_whole(w, "inside", (int64_t)s->inside);
  r4_json_whole(w, "pasted", (int64_t)s->pasted);
  r4_json_whole(w, "removed", (int64_t)s->removed);
  add_shares(w, v, c, -1);
  r4_json_open(w, "groups", '{');
  for (size_t g = 0; g < s->groups; g++) {
    if (!s->examples[g]) continue;
    r4_json_open(w, r4_data_group_name(v->data, g), '{');
    add_shares(w, v, c, (int32_t)g);
    r4_json_close(w, '}');
  }
  r4_json_close(w, '}');
  r4_json_close(w, '}');
}

static void add_seed_content(r4_json *w, const struct evaluation *v, const r4_swapped *s)
{
  r4_json_open(w, r4_fill_name(s->content), '{');
  for (size_t g = 0; g < s->groups; g++) {
    if (!s->examples[g]) continue;
    r4_json_open(w, r4_data_group_name(v->data, g), '{');
    r4_json_whole(w, "examples", (int64_t)s->examples[g]);
    r4_json_real(w, "flipped", s->flipped[g]);
    r4_json_whole(w, "found", (int64_t)s->found[g]);
    r4_json_real(w, "lost", s->lost[g]);
    r4_json_close(w, '}');
  }
  r4_json_close(w, '}');
}

/* Why no content has anything to report; NULL: one has. */
static const char *why_none(const struct evaluation *v)
{
  for (size_t k = 0; k < v->contents.n; k++)
    if (!eval_swapped(v, k)->none) return NULL;
  return v->contents.n ? eval_swapped(v, 0)->none : "not asked for";
}

/* Null if there is nothing to swap, or nobody asks. */
static bool open_swap(r4_json *w, const struct evaluation *v)
{
  if (!why_none(v)) {
    r4_json_open(w, "swap", '{');
    return true;
  }
  r4_json_text(w, "swap", NULL);
  return false;
}

void swap_add_json(r4_json *w, const struct evaluation *v)
{
  r4_judgement j = judge(v);
  r4_json_text(w, "verdict", r4_verdict_name(j.verdict));
  r4_json_text(w, "verdict_by_validation", r4_verdict_name(j.by_validation));
  r4_json_flag(w, "swap_hides", j.hidden);
  r4_json_flag(w, "masks_doubtful", j.doubtful);
  r4_json_text(w, "swap_none", why_none(v));
  if (!open_swap(w, v)) return;
  for (size_t k = 0; k < v->contents.n; k++)
    if (!eval_swapped(v, k)->none) add_content(w, v, k);
  r4_json_close(w, '}');
}

void swap_add_seed_json(r4_json *w, const struct evaluation *v, size_t seed)
{
  if (!open_swap(w, v)) return;
  for (size_t k = 0; k < v->contents.n; k++)
    if (!eval_swapped(v, k)->none) add_seed_content(w, v, &v->measured[seed].swapped[k]);
  r4_json_close(w, '}');
}
