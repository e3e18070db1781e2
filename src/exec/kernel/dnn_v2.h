/* The API of oneDNN 3, also with oneDNN 2, which describes an operation first (*_desc_init) and then makes a primitive
 * descriptor of it; layouts of memory are structs there, not objects to create and destroy. */
#ifndef R4_EXEC_KERNEL_DNN_V2_H
#define R4_EXEC_KERNEL_DNN_V2_H

#include <dnnl.h>

#if !defined(DNNL_VERSION_MAJOR) || DNNL_VERSION_MAJOR < 2
#error "r4 needs oneDNN 2 or later: libdnnl-dev of Debian 12 or 13, or https://github.com/oneapi-src/oneDNN"
#endif

#if DNNL_VERSION_MAJOR == 2

#include "base/mem.h"

typedef dnnl_memory_desc_t layout_v2, *layout_v3;
typedef const dnnl_memory_desc_t *const_dnnl_memory_desc_t;
#define dnnl_memory_desc_t layout_v3

/* ---- Layouts of memory ---- */

static inline dnnl_status_t dnnl_memory_desc_destroy(dnnl_memory_desc_t md)
{
  r4_mem_free(md);
  return dnnl_success;
}

/* Hands md over, or frees it. */
static inline dnnl_status_t layout_made(dnnl_memory_desc_t md, dnnl_status_t s, dnnl_memory_desc_t *made)
{
  if (s)
    r4_mem_free(md);
  else
    *made = md;
  return s;
}

static inline dnnl_status_t dnnl_memory_desc_create_with_strides(dnnl_memory_desc_t *made, int rank,
                                                                 const dnnl_dims_t dims,
                                                                 dnnl_data_type_t type,
                                                                 const dnnl_dims_t strides)
{
  dnnl_memory_desc_t md = r4_mem_new(1, sizeof(layout_v2));
  if (!md) return dnnl_out_of_memory;
  return layout_made(md, dnnl_memory_desc_init_by_strides(md, rank, dims, type, strides), made);
}

static inline dnnl_status_t dnnl_memory_desc_create_with_tag(dnnl_memory_desc_t *made, int rank,
                                                             const dnnl_dims_t dims, dnnl_data_type_t type,
                                                             dnnl_format_tag_t tag)
{
  dnnl_memory_desc_t md = r4_mem_new(1, sizeof(layout_v2));
  if (!md) return dnnl_out_of_memory;
  return layout_made(md, dnnl_memory_desc_init_by_tag(md, rank, dims, type, tag), made);
}

/* ---- What follows an operation ---- */

static inline dnnl_status_t append_sum_v3(dnnl_post_ops_t ops, float scale, int32_t zero_point,
                                          dnnl_data_type_t type)
{
  if (zero_point || type != dnnl_data_type_undef) return dnnl_unimplemented;
  return dnnl_post_ops_append_sum(ops, scale);
}
#define dnnl_post_ops_append_sum append_sum_v3

static inline dnnl_status_t append_eltwise_v3(dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha,
                                              float beta)
{
  return dnnl_post_ops_append_eltwise(ops, 1, kind, alpha, beta);
}
#define dnnl_post_ops_append_eltwise append_eltwise_v3

/* ---- Operations ---- */

static inline dnnl_status_t
dnnl_matmul_primitive_desc_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine, const_dnnl_memory_desc_t a,
                                  const_dnnl_memory_desc_t b, const_dnnl_memory_desc_t bias,
                                  const_dnnl_memory_desc_t c, const_dnnl_primitive_attr_t attr)
{
  dnnl_matmul_desc_t desc;
  dnnl_status_t s = dnnl_matmul_desc_init(&desc, a, b, bias, c);
  return s ? s : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_convolution_forward_primitive_desc_create(
  dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnnl_prop_kind_t kind, dnnl_alg_kind_t algorithm,
  const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t w, const_dnnl_memory_desc_t bias,
  const_dnnl_memory_desc_t y, const dnnl_dims_t stride, const dnnl_dims_t dilation, const dnnl_dims_t before,
  const dnnl_dims_t after, const_dnnl_primitive_attr_t attr)
{
  dnnl_convolution_desc_t desc;
  dnnl_status_t s = dnnl_dilated_convolution_forward_desc_init(&desc, kind, algorithm, x, w, bias, y, stride,
                                                               dilation, before, after);
  return s ? s : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_convolution_backward_data_primitive_desc_create(
  dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, const_dnnl_memory_desc_t dx,
  const_dnnl_memory_desc_t w, const_dnnl_memory_desc_t dy, const dnnl_dims_t stride,
  const dnnl_dims_t dilation, const dnnl_dims_t before, const dnnl_dims_t after,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attr)
{
  dnnl_convolution_desc_t desc;
  dnnl_status_t s = dnnl_dilated_convolution_backward_data_desc_init(&desc, algorithm, dx, w, dy, stride,
                                                                     dilation, before, after);
  return s ? s : dnnl_primitive_desc_create(pd, &desc, attr, engine, hint);
}

static inline dnnl_status_t dnnl_convolution_backward_weights_primitive_desc_create(
  dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnnl_alg_kind_t algorithm, const_dnnl_memory_desc_t x,
  const_dnnl_memory_desc_t dw, const_dnnl_memory_desc_t dbias, const_dnnl_memory_desc_t dy,
  const dnnl_dims_t stride, const dnnl_dims_t dilation, const dnnl_dims_t before, const dnnl_dims_t after,
  const_dnnl_primitive_desc_t hint, const_dnnl_primitive_attr_t attr)
{
  dnnl_convolution_desc_t desc;
  dnnl_status_t s = dnnl_dilated_convolution_backward_weights_desc_init(&desc, algorithm, x, dw, dbias, dy,
                                                                        stride, dilation, before, after);
  return s ? s : dnnl_primitive_desc_create(pd, &desc, attr, engine, hint);
}

static inline dnnl_status_t dnnl_pooling_forward_primitive_desc_create(
  dnnl_primitive_desc_t *pd, dnnl_engine_t engine, dnnl_prop_kind_t kind, dnnl_alg_kind_t algorithm,
  const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t y, const dnnl_dims_t stride, const dnnl_dims_t window,
  const dnnl_dims_t dilation, const dnnl_dims_t before, const dnnl_dims_t after,
  const_dnnl_primitive_attr_t attr)
{
  dnnl_pooling_v2_desc_t desc;
  dnnl_status_t s =
    dnnl_pooling_v2_forward_desc_init(&desc, kind, algorithm, x, y, stride, window, dilation, before, after);
  return s ? s : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

#endif

#endif
