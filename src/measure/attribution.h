/* Attributions: how much each feature has to do with the answer, an array shaped as the example.
 *
 *     e_i   what is explained of example i: its loss, or another choice of r4_explain
 *     g_i   = d e_i / d x_i
 *     m_i   its mask, 1 = must not matter
 *
 * A method is one function and one line in the table of attribution.c. */
#ifndef R4_MEASURE_ATTRIBUTION_H
#define R4_MEASURE_ATTRIBUTION_H

#include "measure/probe.h"

struct attribution {
  const char *name, *about;
  size_t (*build)(struct objective *o, r4_id out[PROBE_OUTPUTS]); /* out[0]: a, shaped as x */
  bool width;    /* a is the width of an interval: 0 or more, and infinite where nothing is known */
  bool noise;    /* it looks at samples that are drawn with standard deviation sigma, the eps of build */
  bool baseline; /* it looks at samples, and adds the input "baseline" [input...]                 */
  bool cells;    /* a is one number for each cell of the last feature map, at which the net is cut */
  bool windows;  /* a is one number for each pixel, by windows that are filled: occlusion.h */
};

/* R4_E_ARGUMENT, with the names that there are, for an unknown one. */
r4_status attribution_find(const char *name, const struct attribution **a, r4_error *e);

/* R4_E_SHAPE unless the net takes the examples of d and knows their classes. */
r4_status attribution_fits(const r4_net *n, const r4_data *d, r4_error *e);

/* What becomes of the attribution a [features] of an example, which is gone after the call. */
typedef void attribution_take(void *context, size_t example, const float *a);

/* One example after the other, as r4_attribute has them. */
r4_status attribution_each(const char *method, const r4_net *n, const float *weights, const r4_data *d,
                           const r4_attribution_options *options, attribution_take *take, void *context,
                           r4_error *e);

#endif
