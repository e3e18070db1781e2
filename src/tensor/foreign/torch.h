/* Files of PyTorch (.pth, .pt, pytorch_model.bin): a pickle of a dictionary from names to tensors, which say where in
 * which storage their elements are. Two kinds:
 *
 *     since 1.6    a zip archive: NAME/data.pkl, and NAME/data/KEY for each storage
 *     before       pickles of a magic number, a version, facts about the machine, the dictionary, and the keys of the
 *                  storages; then each of these, a count in 8 bytes and its elements
 *
 * Nothing of Python runs. Of a checkpoint that has a dictionary under "state_dict", "model_state_dict" or "model", that
 * one is read. */
#ifndef R4_TENSOR_FOREIGN_TORCH_H
#define R4_TENSOR_FOREIGN_TORCH_H

#include "tensor/safetensors.h"

bool torch_is_file(const char *path); /* by its first bytes */
/* All tensors, as floats. */
r4_status torch_read(struct st_file *f, const char *path, r4_error *e);
/* The same of bytes that stay the caller's; path is for messages. */
r4_status torch_parse(struct st_file *f, const char *path, const uint8_t *data, size_t size, r4_error *e);

#endif
