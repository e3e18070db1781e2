/* What options make training minimise, for people: the same terms, forms and means that objective.c builds.
 *
 *     mean loss on filled examples + 0.1 x mean log(1 + ||m . max(|lo|, |hi|)||_2 / 0.01); lo <= g <= hi ..
 *
 * The value of the printed formula is the loss: test_told.c computes both. */
#include <string.h>

#include "base/text.h"
#include "objective/objective.h"

/* ---- The data term ---- */

static void say_data(struct text *to, const r4_objective_options *p, const r4_method_info *m)
{
  text_add(to, "mean loss%s", p->double_softmax ? " of a double softmax" : "");
  bool by_group = p->weighted || m->groups;
  if (p->class_weights || by_group) text_add(to, " weighted by ");
  if (p->class_weights) text_add(to, "class%s", by_group ? " and " : "");
  if (by_group) text_add(to, "group");
  if (p->filled) text_add(to, " on filled examples");
}

/* ---- Penalties ---- */

static void say_quantity(struct text *to, const r4_objective_options *p, const struct method *m)
{
  const char *s = m->formula ? m->formula : "q", *norm;
  if (p->norm == R4_NORM_SUM && m->formula_of_sums) s = m->formula_of_sums;
  if (p->element_max && m->formula_of_elements) s = m->formula_of_elements;
  while ((norm = strstr(s, "_p"))) {
    text_add(to, "%.*s_%d", (int)(norm - s), s, p->norm == R4_NORM_L1 ? 1 : 2);
    s = norm + 2;
  }
  text_add(to, "%s", s);
}

static void say_scaled(struct text *to, const r4_objective_options *p, const struct method *m, double scale)
{
  say_quantity(to, p, m);
  text_add(to, " / ");
  text_add_real(to, scale);
  text_add(to, ")");
}

/* lambda form(q) */
static void say_term(struct text *to, const r4_objective_options *p, const struct composition *c, size_t k)
{
  r4_form form = objective_form(p, k);
  text_add(to, " + ");
  if (form == R4_FORM_TARGET)
    text_add(to, "lambda");
  else
    text_add_real(to, p->lambda[k]);
  text_add(to, form == R4_FORM_LOG ? " x mean log(1 + " : form == R4_FORM_TARGET ? " x log(1 + mean " : " x mean ");
  if (form == R4_FORM_LINEAR)
    say_quantity(to, p, c->part[k]);
  else
    say_scaled(to, p, c->part[k], form == R4_FORM_LOG ? p->tau : p->delta);
}

static void say_weights(struct text *to, const r4_objective_options *p)
{
  if (!(p->weight_penalty > 0)) return;
  text_add(to, " + ");
  text_add_real(to, p->weight_penalty);
  text_add(to, " x sum of squared weights");
}

/* ---- What its letters and means are ---- */

/* "lambda is chosen so that mean q = 0.01" */
static void say_target(struct text *to, const r4_objective_options *p, const struct composition *c)
{
  if (!c->terms || p->form != R4_FORM_TARGET) return;
  text_add(to, "; lambda is chosen so that ");
  for (size_t k = 0; k < c->terms; k++) {
    text_add(to, "%smean ", k ? " + " : "");
    say_quantity(to, p, c->part[k]);
  }
  text_add(to, " = ");
  text_add_real(to, p->delta);
}

static void say_letters(struct text *to, const struct composition *c)
{
  for (size_t k = 0; k < c->terms; k++)
    if (c->part[k]->where) text_add(to, "; %s", c->part[k]->where);
}

static void say_box(struct text *to, const r4_objective_options *p)
{
  if (!r4_method_uses(p->method, "eps=range")) return;
  if (p->word_box) {
    text_add(to, "; the box: any listed words at masked tokens");
  } else if (p->whole) {
    text_add(to, "; the box: any valid values of masked features");
  } else {
    text_add(to, "; the box: |x' - x| <= ");
    text_add_real(to, p->eps);
    text_add(to, " m");
  }
  if (p->ranged) {
    text_add(to, ", in [");
    text_add_real(to, p->low);
    text_add(to, ", ");
    text_add_real(to, p->high);
    text_add(to, "]");
  }
}

static void say_noise(struct text *to, const r4_objective_options *p)
{
  if (!r4_method_uses(p->method, "noise")) return;
  text_add(to, "; noise_s is normal, of standard deviation ");
  text_add_real(to, p->noise > 0 ? p->noise : p->eps);
}

/* What a search for the worst point costs, without which nobody could repeat it. */
static void say_search(struct text *to, const r4_objective_options *p)
{
  if (r4_method_uses(p->method, "samples") && p->samples > 0) text_add(to, "; s = 1 .. %d", p->samples);
  if (!r4_method_uses(p->method, "attack.steps") || p->steps <= 0) return;
  text_add(to, "; the attack visits %d points", p->steps);
  if (!r4_method_uses(p->method, "attack.step")) return;
  text_add(to, " from %s, by the sign of the slope times ", p->random_start ? "a random start" : "x");
  if (p->alpha > 0)
    text_add_real(to, p->alpha);
  else
    text_add(to, "eps, halved with each third of them");
}

/* Penalties are means over the examples with a mask, or over all; a few always over one of these. */
static void say_means(struct text *to, const r4_objective_options *p, const struct composition *c)
{
  size_t masked = 0;
  for (size_t k = 0; k < c->terms; k++) masked += objective_counts_masked(p, k);
  if (!c->terms) return;
  if (masked && masked < c->terms)
    for (size_t k = 0; k < c->terms; k++)
      text_add(to, "; the mean of %s is over %s", c->name[k],
               objective_counts_masked(p, k) ? "examples with a mask" : "all examples");
  else
    text_add(to, "; %s over %s", c->terms > 1 ? "means of penalties are" : "the mean of the penalty is",
             masked ? "examples with a mask" : "all examples");
}

char *r4_objective_text(const r4_objective_options *p)
{
  struct composition c;
  struct text to = {0};
  if (!p || !p->method || !composition_of(p->method, &c)) return NULL;
  r4_method_info m = r4_method_describe(p->method);
  say_data(&to, p, &m);
  for (size_t k = 0; k < c.terms; k++) say_term(&to, p, &c, k);
  say_weights(&to, p);
  say_target(&to, p, &c);
  say_letters(&to, &c);
  if (r4_method_uses(p->method, "explain"))
    text_add(&to, "; g is the gradient of the %s", explain_words[p->explain + 1]);
  say_box(&to, p);
  say_noise(&to, p);
  say_search(&to, p);
  say_means(&to, p, &c);
  return text_take(&to);
}
