/* r4-check: a second opinion on certificates. It shares no code with r4, and can be read in one evening.
 *
 *     main.c     the program                               net.c     the text of a net becomes parts
 *     text.c     the certificate and its numbers           bound.c   interval arithmetic: read this one first
 *     model.c    safetensors, and SHA-256                  linear.c  linear bounds and branching, where it is too wide
 *     npz.c      the examples                              claim.c   what a line claims, and whether it holds
 *                                                          cover.c   masks of a family
 *
 * Whoever calls refuse() does not come back: the program ends with code 3. Memory that is needed to the end is not
 * freed. */
#ifndef R4_CHECK_H
#define R4_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *take(size_t n, size_t size); /* memory, all 0 */
void sha256_hex(const uint8_t *data, size_t n, char hex[65]);
struct bytes {
  const uint8_t *at;
  size_t n;
};

/* ---- Numbers ---- */

struct range {
  double up, dn; /* x <= up and -x <= dn */
};
struct decimal { /* m / 10^k, exactly */
  int64_t m;
  int k;
};
bool decimal_read(const char *s, struct decimal *d);
struct range decimal_range(struct decimal d);
bool whole_read(const char **s, int64_t most, int64_t *value);
bool hex_read(const char **s, double *value);

/* ---- Files ---- */

struct tensor {
  char *name;
  int rank;
  size_t dim[4];
  const float *at;
};
struct model {
  struct tensor *tensor;
  size_t tensors, input[3]; /* height, width, channels */
  char *net;                /* its text */
  int rank;                 /* of the input: 1 or 3 */
};
void model_read(struct bytes file, struct model *m);

struct array {
  char type; /* f: float32, u: uint8, i: int64; 0: there is none */
  int rank;
  size_t dim[4], n;
  const uint8_t *at;
};
struct array array_read(struct bytes file, const char *name);
double array_real(const struct array *a, size_t k);
int64_t array_whole(const struct array *a, size_t k);

enum claim { BOX, WORDS, COVER };
enum semantics { REAL, ANY_FLOAT, THIS_PROGRAM };
enum verdict { OPEN, HOLDS, CANNOT_TELL, DOES_NOT_HOLD }; /* the worst last */
struct line {
  int64_t label, class;
  double margin;
  bool claimed; /* it says "holds" */
  enum verdict verdict;
};
struct certificate {
  enum claim claim;
  enum semantics semantics;
  char *method, *model, *data, *cover, *fill;
  bool whole_range, has_range;
  struct range step, low, high; /* eps, and the valid values */
  int64_t *word;
  size_t words, n;
  struct line *line;
};
void certificate_read(struct bytes file, struct certificate *c);

/* ---- Nets ---- */

enum { MOST_BRANCHES = 8, MOST_LIST = 16 };
enum rank { VECTOR, IDS, TOKENS, IMAGE };
struct shape { /* channels, height, width; a vector has one pixel, tokens are the pixels of one line */
  size_t rank, c, h, w;
};
struct part {
  char kind[16];
  int64_t num['z' + 1]; /* by letter: n units, k window, s stride, d dilation, g groups, m multiple, b no bias */
  int64_t pad[2];       /* above, and to the left */
  struct range eps, list[2][MOST_LIST]; /* mean, std */
  size_t listed[2], branches;
  struct shape in, out;
  const float *weight, *bias, *mean, *var;
  struct part *branch[MOST_BRANCHES], *next, *before; /* before: whose output it gets; NULL: the input */
  size_t unit;                                        /* of a relu: the number of its first one */
};
struct net {
  struct part *first;
  struct shape in, out;
  size_t classes, units; /* units: of relus */
  char missing[32];      /* a part without a rule: nothing can be told of the net */
};
void net_build(const struct model *m, struct net *n, bool ids);
size_t shape_size(const struct shape *s);
bool is(const struct part *p, const char *kind);

/* ---- Bounds: LANES examples, or points, at once ---- */

enum { LANES = 8 };
struct value {
  struct shape shape;
  double *up, *dn; /* [channel][pixel][lane]: upper bounds of x and of -x */
};
struct batch {
  struct value x; /* or texts: */
  int64_t *id[LANES], class[LANES];
  bool *vary[LANES]; /* a word may be in the place of this token */
  size_t length[LANES];
};
/* Over all x' of the box of a lane, low <= z_class - z_j for all j, and high >= it for one j; about the largest |z|. */
struct margins {
  double low[LANES], high[LANES], size[LANES];
};
void round_upward(void); /* for this thread, or refuses */
struct value value_new(struct shape s);
/* Whether z_class - z_j >= margin for all j, in real arithmetic, over the box x, which is consumed: by linear bounds
 * and by branching. False: cannot tell. */
bool net_proves(const struct net *n, struct value x, int64_t class, double margin);
struct margins net_margins(const struct net *n, const struct certificate *c, struct batch *b); /* consumes b->x */

/* What bound.c and linear.c share. */

struct run {
  const struct certificate *c;
  const struct batch *batch;
  bool any_float;
  void (*at_relu)(void *of, const struct part *p, struct value *z); /* z becomes what relu makes of it; NULL: clip */
  void *of;
};

static inline struct range exactly(double x)
{
  return (struct range){x, -x};
}

/* The larger and the smaller of two; what is not a number wins. */
static inline double larger(double a, double b)
{
  return a >= b || a != a ? a : b;
}

static inline double smaller(double a, double b)
{
  return a <= b || a != a ? a : b;
}

/* x y for ranges: the largest of four products. */
static inline double most(struct range x, struct range y)
{
  return larger(larger(x.up * y.up, -x.up * y.dn), larger(-x.dn * y.up, x.dn * y.dn));
}

static inline struct range times(struct range x, struct range y)
{
  return (struct range){most(x, y), most((struct range){x.dn, x.up}, y)};
}

/* s += w x in all lanes, the kernel of everything; s is [up, dn]. */
static inline void add(double *restrict up, double *restrict dn, double w, const double *x_up, const double *x_dn)
{
  const double *more = w < 0 ? x_dn : x_up, *less = w < 0 ? x_up : x_dn, size = w < 0 ? -w : w;
  for (int b = 0; b < LANES; b++) up[b] += size * more[b];
  for (int b = 0; b < LANES; b++) dn[b] += size * less[b];
}

/* relu, relu6 (highest: 6): what is not a number stays. */
static inline struct range clipped(struct range x, double highest)
{
  return (struct range){x.up <= 0 ? 0 : x.up >= highest ? highest : x.up,
                        x.dn >= 0 ? 0 : x.dn <= -highest ? -highest : x.dn};
}

struct value value_copy(const struct value *v);
void value_free(struct value *v);
/* Where pixel i of the window at feature k is in its channel; -1: in the padding. */
int64_t window_pixel(const struct part *p, size_t k, int64_t i);
/* Channel c of batchnorm and normalize: (x - minus) by + plus. */
struct scaling {
  struct range by, minus, plus;
};
struct scaling scaling_of(const struct part *p, size_t c);
/* The parts from p to before end; x is consumed. */
struct value apply(const struct run *r, const struct part *p, const struct part *end, struct value x);

/* ---- Claims ---- */

struct job {
  struct certificate *c;
  struct net *net;
  struct array x, y, mask, length;
  double *fill; /* of a cover: by channel; of texts, an id */
  struct mask *cover;
  size_t masks;
};
struct mask {
  size_t top, bottom, left, right;
  bool outside; /* hides what is not in it */
};
void cover_make(struct job *j);
/* Fills in the verdicts. */
void check(struct bytes certificate, struct bytes model, struct bytes data, struct certificate *c, struct net *net);

#endif
