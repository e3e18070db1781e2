#!/usr/bin/python3
"""Makes the npz files of this folder with NumPy, for test_npz_data.c."""
import numpy as np

x = np.arange(4 * 2 * 3 * 3, dtype=np.uint8).reshape(4, 2, 3, 3)
y = np.array([0, 1, 1, 0])
m = np.zeros((4, 2, 3), dtype=bool)
m[1, 0, 2] = m[3, 1, 0] = True

np.savez_compressed("own.npz", x_train=x, y_train=y, m_train=~m, g_train=y[::-1].astype(np.int8),
                    x_test=np.asfortranarray(x[:2]), y_test=y[:2].astype(np.float32), m_test=~m[:2],
                    g_test=y[:2].astype(">u2"), class_names=["cat", "größe"], group_names=np.array([b"day", b"night"]),
                    mask_means="relevant", about="made by NumPy")
np.savez("dermamnist_2.npz", train_images=x, train_labels=np.array([[5], [0], [6], [2]], dtype=np.uint8),
         val_images=x[:1], val_labels=np.array([[4]], dtype=np.uint8),
         test_images=x[2:], test_labels=np.array([[1], [3]], dtype=np.uint8))

# dtak/rrr: Xr, X, y, E, Xtr, Xt, yt, Et without names
raw = np.zeros((3, 784), dtype=np.uint8)
decoy, mask = raw.copy(), np.zeros((3, 784), dtype=bool)
for i in range(3):
    for r in range(4):
        decoy[i, 28 * r:28 * r + 4] = 255 - 25 * i
        mask[i, 28 * r:28 * r + 4] = True
digit = np.array([0, 1, 2], dtype=np.uint8)
np.savez_compressed("decoy-mnist.npz", raw, decoy, digit, mask, raw[:1], decoy[2:], digit[:1], mask[2:])
np.savez_compressed("six.npz", decoy, digit, decoy[:1], digit[:1], decoy[1:2], digit[1:2])
