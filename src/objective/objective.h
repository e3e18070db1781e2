/* Objectives: what training minimises,
 *
 *     mean_i v_i w[y_i] l_i  +  beta sum W^2  +  sum of lambda * form(q) over the terms of the method.
 *
 *     l_i   = CE(z(x_i), y_i)           loss of example i
 *     g_i   = d e_i / d x_i             its explanation, e_i = l_i unless options choose another
 *     m_i   in [0, 1], 1 = must not matter
 *     q_i   what a term wants to be small, a number >= 0 per example; 0 where m_i = 0
 *
 * A term is one file with one function, its q, what the rest of the program must know of it, and one line in
 * methods.def. It is a method, and any few of them, joined by "+", are one as well (composition.h). doc/objectives.md
 * has all definitions in one place.
 *
 * The leaf is the perturbation. With masks on U listed features the network is seen at
 * x + P d, where d [batch, U] is zero and P places it: the explanation of these features is the
 * derivative with respect to d, their box is d in -+ eps m. What depends on d alone then folds away, and
 * products of the width of x become products of width U. With masks in small windows of images, P places
 * a window, and module/reach.h follows d through the net. With masks on all features the leaf is x.
 *
 * The network is seen from its leaf on, which is x unless the net names another node: the sum of embeddings for tokens.
 * The data term learns (statistics of the batch, dropout); terms look at the net as it will be used.
 *
 * If the data term sees filled examples f, which differ from x in masked features only, then x = f + P c, and
 * the network is seen at f + P (c + d): all that does not depend on the masked features is shared.
 *
 * A net with one output z has the logits [0, z]: their cross entropy is the logistic loss
 * log(1 + e^z) - y z, and the bounds of its derivative are [sigmoid(lo) - y, sigmoid(hi) - y]. */
#ifndef R4_OBJECTIVE_OBJECTIVE_H
#define R4_OBJECTIVE_OBJECTIVE_H

#include "module/net.h"
#include "objective/composition.h"
#include "r4.h"

/* The words of each r4_explain, r4_norm and r4_form (but for the target, which a user asks for by a number). NULL ends
 * them. */
extern const char *const explain_words[], *const norm_words[], *const form_words[];
enum { EXPLAIN_AUTO }; /* the first word; those of r4_explain follow */

/* The inputs that an objective draws, in the order in which they were asked for. Kept by the graph. */
struct draws {
  r4_drawn *list;
  size_t n;
};

struct objective {
  r4_graph *g;
  const r4_net *net;
  const r4_id *param;
  const r4_objective_options *options;
  r4_objective_inputs in;
  struct net_use look; /* how terms look at the net: as it will be used */
  r4_id x;             /* the examples at the leaf of the net, which may be the examples themselves */
  r4_id m;             /* their masks, shaped as the leaf, or what is looked at of it */
  int64_t rows; /* examples that are looked at: the batch, or for terms its first ones (options->guided) */
  r4_id
    base; /* at the leaf, examples that differ from x in the masked features only, or x; at least rows of them */
  r4_id content; /* x - base at the features of the leaf; R4_NONE: base is x */
  r4_id filled;  /* what the data term sees of the rows, at the leaf */
  r4_id eps;     /* a constant or an input */
  r4_id one_hot; /* of the labels */
  size_t term;   /* whose q is being built, by its place in the method */
  struct draws *drawn;
};

/* ---- Terms and methods: method.c ---- */

struct term {
  r4_id (*quantity)(struct objective *o); /* q [rows] */
  /* That it looks at, beside those of every penalty, and as "penalty.norm=sum" a value that not all know; NULL ends
   * them. */
  const char *const *settings;
  bool over_masked; /* its mean is over the examples with a mask, always */
  bool answers;     /* q is small for right answers only, not for a net without any gradient */
  bool pairs; /* it compares examples with filled ones: those that were pasted on count, masked or not */
};

#define TERM_SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_SETTINGS ((const char *const[]){NULL})

/* A line of the table: one term, or none. */
struct method {
  const struct term *term; /* NULL: the data term is all there is              */
  double lambda;           /* that does well on photos, with filled examples   */
  r4_form form;
  bool fills; /* the data term sees filled examples, unless told otherwise */
  bool texts; /* for nets of tokens only */
  bool groups; /* examples are weighted by group: whoever runs the graph gives their weights, and moves them */
  bool waits; /* of a fresh net its penalty knows nothing: it begins after the net has learned something */
  /* q of one example, for people; NULL: there is none. "_p" stands for the norm, _2 or _1. */
  const char *formula;
  const char *formula_of_sums;     /* the same for penalty.norm: sum */
  const char *formula_of_elements; /* the same for published.sample_max: element */
  const char *where;               /* what its letters stand for, or NULL */
  const char *about;   /* what it does and when to use it, one or two lines              */
};

#define PLAIN(identifier, name) extern const struct method method_##identifier;
#define PENALTY PLAIN
#include "objective/methods.def"

/* A line of the table by name; NULL if there is none, and for sums. */
const struct method *method_find(const char *name);
/* Whether n letters are this name, in any case, and with _ for -: tables have "Cert-R4". */
bool method_is(const char *s, size_t n, const char *name);
/* The name in the table that these n letters are, or NULL. */
const char *method_name(const char *s, size_t n);
/* The names of all methods; NULL ends them. The first has neither a penalty nor filled examples. */
extern const char *method_words[];
/* The same behind "auto". */
extern const char *method_choices[];
/* For tests: one more method, until it is taken away by NULL. */
void method_add(const char *name, const struct method *m);

/* Whether a net that gives every example the same answer has the least penalty of all. */
bool method_dies_of_penalty(const char *method);
/* Whether one of its terms puts words in place of others, whatever the box is; and words as they occur, as noise. */
bool method_replaces_words(const char *method);
bool method_has_noise_of_words(const char *method);
/* "a, b and c": the methods that a setting has an effect on. r4_string_free; NULL when out of memory. */
char *method_list(const char *setting);

/* ---- Inputs that are drawn: draw.c ---- */

/* n numbers for a step, by key and by nothing else but the batch. */
typedef void draw_fill(r4_random key, const r4_batch *batch, size_t n, float *to);
draw_fill draw_signed; /* uniform in [-1, 1) */
draw_fill draw_unit;   /* uniform in [0, 1)  */
draw_fill draw_normal; /* standard normal    */

/* Whether the penalty of term k is a mean over the examples with a mask, not over all of the batch. */
bool objective_counts_masked(const r4_objective_options *p, size_t k);

/* Of term k: one that leads while another waits is linear where that has the form log. */
r4_form objective_form(const r4_objective_options *p, size_t k);

/* An input that whoever runs the graph draws anew for each step. purpose is one of base/purpose.h. Terms that ask for
 * the same draw numbers of their own: behind the first term of a method, name and purpose are those of its place. */
r4_id objective_draw(struct objective *o, const char *name, r4_shape shape, uint32_t purpose,
                     draw_fill *fill);

/* ---- Building: objective.c, options.c ---- */

/* The inputs of the weights of the terms, if they are live. */
extern const char *const objective_weight_names[R4_TERMS];

/* False, and an error in g, if an option is out of its range. */
bool objective_check(r4_graph *g, const r4_net *n, const r4_objective_options *p);

/* The same for an option that counts samples or steps, and must be at least 1. */
bool objective_check_count(r4_graph *g, const char *name, int value);

/* Adds the inputs x, y, m and, where the options have them, index, length and eps; sets what o keeps of them. */
void objective_inputs(struct objective *o);

/* Of one example, the features whose explanation is looked at: the leaf of the net. */
int64_t objective_features(const r4_net *n);
/* The leaf is a row of numbers for each feature of an example, a token. A mask has one number for each. */
bool objective_leaf_is_rows(const r4_net *n);

/* The shape of a batch of examples of shape one. */
r4_shape objective_batch(r4_shape one, int64_t batch);

/* ---- Places to look at the network from: view.c ---- */

/* Points x + P d, as a function of leaf, which has the shape of the masks. There may be the batch several times over,
 * sample after sample. */
struct view {
  r4_id x, d, at;     /* d: R4_NONE for the points x themselves; at: where windows are */
  r4_id leaf, centre; /* centre: the value of the leaf */
  int64_t rows;
};

r4_id view_window(const struct objective *o, r4_id v);   /* of images v, the windows of the masks   */
r4_id view_features(const struct objective *o, r4_id v); /* of examples v, the features of the leaf */

struct view view_clean(const struct objective *o);              /* at x itself                       */
struct view view_moved(const struct objective *o, r4_id d);     /* at x + P d, the leaf is d         */
struct view view_noisy(const struct objective *o, r4_id noise); /* at x + noise [samples * batch, ..] */

r4_id view_nowhere(const struct objective *o);          /* d = 0                              */
r4_id view_radius(const struct objective *o);           /* eps m, before limits of the range  */
r4_id view_allowed(const struct objective *o, r4_id d); /* d clipped to the box and the range */
r4_id view_repeat(r4_graph *g, r4_id x, int64_t times); /* rows of x, times over              */

r4_id view_select(const struct objective *o, r4_id chosen, r4_id a,
                  r4_id b); /* a where chosen [batch], else b */
r4_id view_at_examples(const struct objective *o, struct view v,
                       r4_id y); /* y of the clean view v at d = 0 */

r4_id view_logits(const struct objective *o, struct view v);

/* How bounds are found: by r4_bound; or the tighter of them and linear ones, with ends inside by intervals. */
enum bound_by { BOUND_BY_INTERVALS, BOUND_BY_LINEAR };
enum bound_by objective_bound_by(const struct objective *o); /* as the options say */

/* lo <= y <= hi, where y is a function of the leaf of v, while the leaf moves by up to radius; with word_box, while
 * masked tokens are any words of the list. */
r4_pair view_bounds(const struct objective *o, enum bound_by by, struct view v, r4_id y, r4_id radius);

/* ---- Explanations and their sizes: explain.c ---- */

r4_id objective_logits(const struct objective *o, r4_id z);          /* from the outputs of the net */
r4_id objective_explained(const struct objective *o, struct view v); /* e of each row of the view */
r4_id objective_explain(const struct objective *o,
                        struct view v);                      /* g, shaped as the leaf; summed over samples */
r4_id objective_explain_examples(const struct objective *o); /* g at the examples themselves */
/* lo <= g(x') <= hi for all x' in x -+ radius */
r4_pair objective_explain_bounds(const struct objective *o, enum bound_by by, r4_id radius);
r4_id objective_example_sum(const struct objective *o,
                            r4_id v);                        /* sum_j v_ij                                 */
r4_id objective_squares(const struct objective *o, r4_id v); /* || m . v_i ||_2^2                          */
r4_id objective_norm(const struct objective *o, r4_id v);    /* || m . v_i ||, 2-norm or 1-norm            */
r4_id objective_masked(const struct objective *o);           /* 1 if example i has a mask, else 0          */

#endif
