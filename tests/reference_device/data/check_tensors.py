"""Placement, mixing of devices, resizing, views, copies, modules: run on the reference device."""

import copy
import io
import pickle
import subprocess
import sys
import warnings

import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import TestCase, run_tests


class TestTensors(TestCase):
    def test_constructors(self, device):
        for made in (
            torch.ones(2, 3, device=device),
            torch.tensor([[1.0, 2.0]], device=device),
            torch.as_tensor([1, 2], device=device),
            torch.asarray([1.5], device=device),
            torch.empty((2, 2), device=device).new_tensor([3]),
            torch.arange(4).to(device),
            torch.zeros_like(torch.ones(3), device=device),
        ):
            self.assertEqual(made.device, torch.device(device))
            self.assertIs(type(made), torch.Tensor)
        self.assertEqual(torch.tensor([1, 2], device=device).tolist(), [1, 2])

    def test_requires_grad_constructor(self, device):
        leaf = torch.tensor([1.0, 2.0], device=device, requires_grad=True)
        (leaf * leaf).sum().backward()
        self.assertEqual(leaf.grad.cpu(), torch.tensor([2.0, 4.0]))
        self.assertEqual(leaf.grad.device, leaf.device)

    def test_second_device(self, device):
        other = f"{torch.device(device).type}:1"
        leaf = torch.ones(3, device=device, requires_grad=True)
        there = torch.full((3,), 2.0, device=other, requires_grad=True)
        (leaf.to(other) * there).sum().backward()
        self.assertEqual((leaf.grad.device, there.grad.device), (torch.device(device), torch.device(other)))
        for made in (
            torch.zeros_like(there),
            there.new_ones(2),
            torch.randn(2, device=other),
            torch.nn.functional.dropout(there),
            torch.cat([there, there]),
            torch.nn.Linear(3, 1).to(other)(there),
        ):
            self.assertEqual(made.device, torch.device(other))

    def test_numpy_is_refused(self, device):
        with self.assertRaisesRegex(TypeError, "copy the tensor to host memory"):
            torch.ones(2, device=device).numpy()

    @onlyAccelerator
    def test_only_accelerator_runs(self, device):
        self.assertNotEqual(torch.device(device).type, "cpu")

    def test_mixing_with_a_cpu_tensor_is_refused(self, device):
        here, host = torch.ones(2, device=device), torch.ones(2)
        for mix in (
            lambda: here + host,
            lambda: host + here,
            lambda: torch.cat([here, host]),
            lambda: here.add_(host),
            lambda: host.add_(here),
            lambda: torch.where(host > 0, here, here),
            lambda: torch.mm(here.view(1, 2), host.view(2, 1)),
            lambda: torch.nn.Linear(2, 1)(here),
            lambda: torch.add(here, here, out=host),
        ):
            with self.assertRaisesRegex(RuntimeError, "(?i)same device"):
                mix()

    def test_mixing_two_devices_is_refused(self, device):
        first, second = torch.ones(2, device=f"{torch.device(device).type}:0"), torch.ones(2, device=f"{device[:-1]}1")
        with self.assertRaisesRegex(RuntimeError, "same device"):
            first + second

    def test_a_cpu_scalar_may_be_mixed(self, device):
        self.assertEqual((torch.ones(2, device=device) + torch.tensor(2.0)).tolist(), [3, 3])
        with self.assertRaisesRegex(RuntimeError, "same device"):
            torch.tensor(1.0).add_(torch.tensor(1.0, device=device))

    def test_copies_between_devices(self, device):
        other = f"{torch.device(device).type}:1"
        here = torch.arange(4.0, device=device)
        self.assertEqual(here.to(other).device, torch.device(other))
        self.assertEqual(torch.empty(4).copy_(here), torch.arange(4.0))
        self.assertEqual(here.copy_(torch.ones(4)).tolist(), [1, 1, 1, 1])
        self.assertEqual(here.cpu().device.type, "cpu")

    def test_indexing(self, device):
        here = torch.arange(5.0, device=device)
        self.assertEqual(here[torch.tensor([0, 2])].tolist(), [0, 2])
        self.assertEqual(here[torch.tensor([0, 2], device=device)].tolist(), [0, 2])
        self.assertEqual(here[[1, 3]].tolist(), [1, 3])
        self.assertEqual(here[here > 2].tolist(), [3, 4])
        with self.assertRaisesRegex(RuntimeError, "indices should be either"):
            torch.arange(5)[torch.tensor([0], device=device)]
        with self.assertRaisesRegex(RuntimeError, "same device"):
            here[torch.tensor([0, 2])] = torch.ones(2)
        here[torch.tensor([0, 2])] = torch.tensor(9.0)
        self.assertEqual(here.tolist(), [9, 1, 9, 3, 4])

    def test_out_is_resized(self, device):
        grown = torch.empty(0, device=device)
        torch.add(torch.ones(2, 3, device=device), 1, out=grown)
        self.assertEqual(grown.shape, (2, 3))
        self.assertEqual(grown.cpu(), torch.full((2, 3), 2.0))

    def test_out_of_the_wrong_size_warns_once(self, device):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.exp(torch.zeros(3, device=device), out=torch.empty(2, device=device))
        self.assertEqual(len(caught), 1)

    def test_out_into_a_view(self, device):
        target = torch.zeros(2, 4, device=device)
        torch.add(torch.ones(2, 2, device=device), 1, out=target[:, ::2])
        self.assertEqual(target.tolist(), [[2, 0, 2, 0]] * 2)

    def test_overlapping_out_is_refused(self, device):
        memory = torch.ones(6, device=device)
        with self.assertRaisesRegex(RuntimeError, "single memory location"):
            torch.exp(memory[0:4], out=memory[1:5])

    def test_resize(self, device):
        tensor = torch.arange(3.0, device=device)
        tensor.resize_(5)
        self.assertEqual(tensor.shape, (5,))
        self.assertEqual(tensor[:3].tolist(), [0, 1, 2])
        tensor.resize_(2)
        self.assertEqual(tensor.tolist(), [0, 1])

    def test_views_share_memory(self, device):
        base = torch.zeros(2, 3, device=device)
        base.view(6)[1] = 5
        base.t()[2, 1] = 7
        base[0].add_(1)
        self.assertEqual(base.tolist(), [[1, 6, 1], [0, 0, 7]])
        self.assertEqual(base.view(6).untyped_storage().data_ptr(), base.untyped_storage().data_ptr())

    def test_conjugate_view(self, device):
        tensor = torch.tensor([1 + 2j, 3j], device=device)
        self.assertTrue(tensor.conj().is_conj())
        self.assertEqual(tensor.conj().cpu(), torch.tensor([1 - 2j, -3j]))
        self.assertEqual((tensor.conj() * 1).tolist(), [1 - 2j, -3j])

    def test_wrapped_number_as_tensor_argument(self, device):
        self.assertEqual(torch.remainder(torch.tensor([5, 7], device=device), 4).tolist(), [1, 3])
        self.assertEqual(torch.pow(2, torch.tensor([1, 3], device=device)).tolist(), [2, 8])

    def test_deepcopy_and_pickle(self, device):
        tensor = torch.arange(3.0, device=device)
        for other in (copy.deepcopy(tensor), pickle.loads(pickle.dumps(tensor)), copy.copy(tensor)):
            self.assertEqual(other.device, tensor.device)
            self.assertEqual(other.tolist(), [0, 1, 2])
        parameter = copy.deepcopy(torch.nn.Parameter(tensor))
        self.assertIs(type(parameter), torch.nn.Parameter)

    def test_save_and_load(self, device):
        module = torch.nn.Linear(2, 2).to(device)
        stream = io.BytesIO()
        torch.save(module.state_dict(), stream)
        stream.seek(0)
        self.assertEqual(torch.load(stream)["bias"].device, torch.device(device))
        stream.seek(0)
        self.assertEqual(torch.load(stream, map_location="cpu")["bias"].device.type, "cpu")

    def test_modules_train(self, device):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Dropout(0.5), torch.nn.Flatten(), torch.nn.Linear(8, 1),
        ).to(device)  # fmt: skip
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        before = model[0].weight.detach().clone()
        model(torch.randn(3, 1, 6, 6, device=device)).sum().backward()
        optimizer.step()
        self.assertNotEqual(model[0].weight.detach().cpu(), before.cpu())

    def test_matches_the_cpu(self, device):
        host = torch.randn(4, 5, dtype=torch.double)
        here = host.to(device)
        for function in (torch.softmax, torch.cumsum, torch.logsumexp):
            self.assertEqual(function(here, dim=1).cpu(), function(host, dim=1))
        for function in (torch.linalg.svdvals, torch.linalg.qr, torch.std_mean, torch.unique):
            for ours, theirs in zip(
                torch.utils._pytree.tree_leaves(function(here)), torch.utils._pytree.tree_leaves(function(host))
            ):
                self.assertEqual(ours.cpu(), theirs)

    def test_recurrent_modules_match_the_cpu(self, device):
        for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
            model, host = kind(3, 4).double(), torch.randn(2, 2, 3, dtype=torch.double, requires_grad=True)
            model(host)[0].pow(2).sum().backward()
            here = host.detach().to(device).requires_grad_()
            model.to(device)(here)[0].pow(2).sum().backward()
            self.assertEqual(here.grad.cpu(), host.grad)

    def test_sparse(self, device):
        sparse = torch.eye(3, device=device).to_sparse()
        self.assertEqual((sparse.device, sparse.layout), (torch.device(device), torch.sparse_coo))
        self.assertEqual(sparse.indices().device, torch.device(device))
        sparse.add_(sparse)
        self.assertEqual((sparse + sparse).to_dense().cpu(), 4 * torch.eye(3))
        made = torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,), device=device)
        self.assertEqual(made.to_dense().tolist(), [1, 2, 0])
        self.assertEqual(torch.eye(3).to_sparse().to(device).cpu().to_dense(), torch.eye(3))
        with self.assertRaisesRegex(RuntimeError, "same device"):
            sparse + torch.eye(3).to_sparse()

    def test_sparse_gradient(self, device):
        embedding = torch.nn.Embedding(4, 2, sparse=True).to(device)
        embedding(torch.tensor([1, 2], device=device)).sum().backward()
        self.assertEqual(embedding.weight.grad.device, torch.device(device))
        torch.optim.SGD(embedding.parameters(), lr=0.1).step()

    def test_forward_and_higher_derivatives(self, device):
        hessian = torch.func.hessian(lambda x: (x**3).sum())(torch.ones(2, device=device))
        self.assertEqual(hessian.cpu(), 6 * torch.eye(2))

    def test_pinned_memory(self, device):
        pinned = torch.ones(3).pin_memory()
        self.assertTrue(pinned.is_pinned() and pinned[1:].is_pinned())
        self.assertFalse(torch.ones(3).is_pinned() or torch.ones(3, device=device).is_pinned())
        self.assertEqual(pinned.to(device, non_blocking=True).tolist(), [1, 1, 1])

    def test_what_is_not_supported_says_so(self, device):
        with self.assertRaisesRegex(NotImplementedError, "layout"):
            torch.eye(3, device=device).to_sparse_csr()
        with self.assertRaisesRegex(NotImplementedError, "qint8"):
            torch.quantize_per_tensor(torch.ones(2, device=device), 0.1, 0, torch.qint8)

    def test_literal_cuda_fails(self, device):
        with self.assertRaises((RuntimeError, AssertionError)):
            torch.ones(2, device="cuda")

    def test_repr(self, device):
        self.assertIn(f"device='{device}'", repr(torch.ones(2, device=device)))

    def test_in_a_child_process(self, device):
        code = "import sys, torch; print(torch.ones(2, device=sys.argv[1]).device)"
        done = subprocess.run([sys.executable, "-c", code, device], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.strip(), device, msg=done.stderr)

    def test_nonexistent_device(self, device):
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            torch.ones(2, device=f"{torch.device(device).type}:7")


instantiate_device_type_tests(TestTensors, globals(), except_for="cpu")

if __name__ == "__main__":
    run_tests()
