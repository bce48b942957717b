# SPDX-License-Identifier: BSD-3-Clause
"""Distributed training as torchrun's users write it, for torchrun, ftrun, or by hand: DistributedDataParallel over gloo, without MPI.

    train.py [-o FILE] [-e EPOCHS] [-s SECONDS] [-w WORKERS]

Prints the loss of each epoch, some collectives and messages, and a hash of the model; -o: rank 0 saves that. -s: a pause in each step."""

import argparse
import hashlib
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def data():
    chance = torch.Generator().manual_seed(7)
    x = torch.randn(512, 20, generator=chance)
    y = (x @ torch.randn(20, 3, generator=chance)).argmax(1)
    return TensorDataset(x, y)


def train(rank, size, options):
    torch.manual_seed(1234 + rank)  # dropout differs between ranks
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    dataset = data()
    sampler = DistributedSampler(dataset, num_replicas=size, rank=rank, seed=3)
    loader = DataLoader(dataset, batch_size=32, sampler=sampler, num_workers=options.workers)
    measure = nn.CrossEntropyLoss()
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(1, dtype=torch.float64)
        for x, y in loader:
            optimizer.zero_grad()
            loss = measure(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            time.sleep(options.sleep)
        dist.all_reduce(total)
        if rank == 0:
            print('epoch %d loss %.17g' % (epoch, total.item()), flush=True)
    return model


def talk(rank, size):
    """Messages in a ring, and what else of the collectives DDP does not use."""
    token = torch.full((1000,), float(rank))
    for _ in range(3):
        there = torch.empty_like(token)
        request = dist.isend(token, (rank + 1) % size)
        dist.recv(there, (rank - 1) % size)
        request.wait()
        token = there + rank
    every = [torch.empty_like(token) for _ in range(size)]
    dist.all_gather(every, token)
    dist.barrier()
    print('rank %d token %.17g all %.17g' % (rank, token.sum().item(), sum(t.sum().item() for t in every)), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-o', '--output')
    parser.add_argument('-e', '--epochs', type=int, default=4)
    parser.add_argument('-s', '--sleep', type=float, default=0)
    parser.add_argument('-w', '--workers', type=int, default=0)
    options = parser.parse_args()
    dist.init_process_group('gloo')
    rank, size = dist.get_rank(), dist.get_world_size()
    model = train(rank, size, options)
    talk(rank, size)
    state = model.module.state_dict()
    digest = hashlib.sha256(b''.join(name.encode() + value.numpy().tobytes() for name, value in sorted(state.items()))).hexdigest()
    print('rank %d model %s' % (rank, digest), flush=True)
    if rank == 0 and options.output:
        torch.save(state, options.output)
    dist.barrier()
    # The end of a process group waits, with Python's lock, for a thread that may want that lock: 1.13 hangs then, on a busy machine, under any launcher.
    os._exit(0)


if __name__ == '__main__':
    main()
