# SPDX-License-Identifier: BSD-3-Clause
import os

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")  # RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)  # each rank has rows of its own
x = torch.randn(1000, 8)
y = (x[:, :1] * x[:, 1:2] > 0).float()
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
measure = nn.BCEWithLogitsLoss()
for step in range(200):
    optimizer.zero_grad()
    loss = measure(model(x), y)
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 50 == 49:
        print("step", step + 1, "loss", loss.item(), flush=True)
dist.barrier()
if rank == 0:
    torch.save(model.module.state_dict(), "model.pt")
    print("a model of", size, "ranks", flush=True)
os._exit(0)  # PyTorch 1.13 may wait for itself at the end of a process group
