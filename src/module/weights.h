/* Weights of files, as one net needs them. */
#ifndef R4_MODULE_WEIGHTS_H
#define R4_MODULE_WEIGHTS_H

#include "r4.h"
#include "tensor/shards.h"

/* st_open, or one file of ONNX or PyTorch. */
r4_status weights_open(struct st_set *to, const char *path, r4_error *e);
/* st_read, or a file of PyTorch, or of ONNX, which may leave the size of images to an example. */
r4_status weights_read(struct st_file *to, const char *path, r4_shape example, r4_error *e);

/* The net that the notes of a file name. NULL and an error if there is none. */
r4_net *weights_net(const struct st_file *f, r4_error *e);
/* A shape as "[28,28,1]". */
r4_status net_input_parse(const char *text, r4_shape *shape);

/* r4_net_load, of files that are open. weights may be NULL: then it is only checked whether all is there. */
r4_status weights_take(const r4_net *n, const struct st_set *from, const r4_load_options *options,
                       float *weights, r4_load_report *report, r4_error *e);

#endif
