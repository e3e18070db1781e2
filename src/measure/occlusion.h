/* Occlusion (Zeiler and Fergus, 2014): what hiding a part of an image does to what is explained. Of pixel p,
 *
 *     a_p = mean over the windows w that cover p of  e(x) - e(x with w filled)
 *
 * Windows of K x K pixels stand at 0, S, 2 S, .. in both directions, as far as the first one that reaches the edge,
 * where it is cut; all channels are filled with one value. */
#ifndef R4_MEASURE_OCCLUSION_H
#define R4_MEASURE_OCCLUSION_H

#include "measure/probe.h"

struct occlusion;

/* For so many examples at a time. R4_E_ARGUMENT if this is no image, or windows are larger than it or have gaps
 * between them. */
struct occlusion *occlusion_new(r4_shape image, const r4_attribution_options *o, size_t batch, r4_error *e);
void occlusion_free(struct occlusion *c);

/* out[0]: e [batch] of the examples whose pixels in the input "window" have the value of the input "fill". */
size_t occlusion_build(struct objective *o, r4_id out[PROBE_OUTPUTS]);
/* Binds these inputs. */
r4_status occlusion_bind(struct occlusion *c, struct probe *p, r4_error *e);
/* Examples first .. first + n - 1, with every window; then the map [height, width] of the k-th of them. */
r4_status occlusion_run(struct occlusion *c, struct probe *p, const float *weights, const r4_data *d,
                        size_t first, size_t n, r4_error *e);
const float *occlusion_map(const struct occlusion *c, size_t k);

#endif
