"""The device module, torch.accelerator, streams, events, autocast, profiler: run on the reference device."""

import pickle
import warnings

import torch
from torch.testing._internal.common_device_type import PrivateUse1TestBase, instantiate_device_type_tests
from torch.testing._internal.common_utils import TEST_PRIVATEUSE1, TestCase, run_tests


class TestDeviceModule(TestCase):
    def tearDown(self):
        torch.accelerator.set_device_index(0)
        super().tearDown()

    def test_test_framework(self, device):
        self.assertIsInstance(self, PrivateUse1TestBase)
        self.assertTrue(TEST_PRIVATEUSE1)
        self.assertEqual(self.get_all_devices(), [f"{self.device_type}:0", f"{self.device_type}:1"])
        self.assertEqual(self.get_primary_device(), f"{self.device_type}:0")

    def test_device_module(self, device):
        module = torch.get_device_module(device)
        self.assertIs(module, getattr(torch, self.device_type))
        self.assertTrue(module.is_available())
        self.assertTrue(module.is_initialized())
        self.assertTrue(module.is_bf16_supported())
        self.assertGreaterEqual(module.device_count(), 2)
        module.set_device(1)
        self.assertEqual(module.current_device(), 1)
        module.set_device(-1)
        self.assertEqual(module.current_device(), 1)
        with module.device(0):
            self.assertEqual(module.current_device(), 0)
        self.assertEqual(module.current_device(), 1)
        with self.assertRaisesRegex(RuntimeError, "invalid device ordinal"):
            module.set_device(9)
        module.synchronize()
        self.assertTrue(module.get_device_name())
        self.assertGreater(module.get_device_properties(0).total_memory, 0)

    def test_current_accelerator(self, device):
        self.assertEqual(torch.accelerator.current_accelerator().type, self.device_type)

    def test_accelerator_is_available(self, device):
        self.assertTrue(torch.accelerator.is_available())

    def test_accelerator_device_count(self, device):
        self.assertEqual(torch.accelerator.device_count(), torch.get_device_module(device).device_count())

    def test_accelerator_set_device_index(self, device):
        torch.accelerator.set_device_index(1)
        self.assertEqual(torch.accelerator.current_device_index(), 1)
        self.assertEqual(torch.empty(1, device=self.device_type).device.index, 1)

    def test_accelerator_deprecated_names(self, device):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.accelerator.set_device_idx(1)
            self.assertEqual(torch.accelerator.current_device_idx(), 1)

    def test_accelerator_random(self, device):
        torch.manual_seed(7)
        self.assertEqual(torch.accelerator.random.initial_seed(), 7)
        state = torch.accelerator.random.get_rng_state()
        self.assertEqual(state, torch.get_device_module(device).get_rng_state())
        self.assertEqual(len(torch.accelerator.random.get_rng_state_all()), torch.accelerator.device_count())

    def test_accelerator_graph_is_not_supported(self, device):
        with self.assertRaisesRegex(RuntimeError, "Graph is not supported"):
            torch.accelerator.Graph()

    def test_accelerator_device_index(self, device):
        with torch.accelerator.device_index(1):
            self.assertEqual(torch.accelerator.current_device_index(), 1)
        with torch.accelerator.device_index(None):
            self.assertEqual(torch.accelerator.current_device_index(), 0)

    def test_accelerator_synchronize(self, device):
        torch.accelerator.synchronize()
        torch.accelerator.synchronize(device)

    def test_accelerator_get_device_capability(self, device):
        self.assertIn(torch.float32, torch.accelerator.get_device_capability()["supported_dtypes"])

    def test_accelerator_set_stream(self, device):
        default = torch.accelerator.current_stream()
        stream = torch.Stream(device=device)
        self.assertNotEqual(stream, default)
        torch.accelerator.set_stream(stream)
        self.assertEqual(torch.accelerator.current_stream(), stream)
        torch.accelerator.set_stream(default)

    def test_accelerator_memory(self, device):
        accelerator = torch.accelerator
        accelerator.empty_cache()
        accelerator.empty_host_cache()
        before = accelerator.memory_allocated()
        held = torch.empty(1024, dtype=torch.uint8, device=device)
        self.assertEqual(accelerator.memory_allocated(), before + 1024)
        self.assertGreaterEqual(accelerator.memory_reserved(), before + 1024)
        self.assertGreaterEqual(accelerator.memory_stats()["allocated_bytes.all.current"], 1024)
        free, total = accelerator.get_memory_info()
        self.assertLess(free, total)
        torch.exp(torch.ones(100, device=device), out=torch.empty(0, device=device))
        del held
        self.assertEqual(accelerator.memory_allocated(), before)
        self.assertGreaterEqual(accelerator.max_memory_allocated(), before + 1024)
        self.assertGreaterEqual(accelerator.max_memory_reserved(), before + 1024)
        accelerator.reset_peak_memory_stats()
        self.assertEqual(accelerator.max_memory_allocated(), before)
        accelerator.reset_accumulated_memory_stats()

    def test_device_module_memory(self, device):
        module = torch.get_device_module(device)
        for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
            self.assertIsInstance(getattr(module, name)(), int)
        module.empty_cache()
        module.reset_peak_memory_stats()
        self.assertEqual(len(module.mem_get_info()), 2)
        self.assertIn("allocated_bytes.all.current", module.memory_stats())

    def test_streams_and_events(self, device):
        first, second = torch.Stream(device=device), torch.Stream(device=device)
        start, end = torch.Event(device, enable_timing=True), torch.Event(device, enable_timing=True)
        with first:
            self.assertEqual(torch.accelerator.current_stream(), first)
            start.record()
            torch.ones(2, device=device).add_(1)
            end.record(first)
        self.assertNotEqual(torch.accelerator.current_stream(), first)
        second.wait_stream(first)
        second.wait_event(end)
        second.synchronize()
        end.synchronize()
        self.assertTrue(first.query() and end.query())
        self.assertGreaterEqual(start.elapsed_time(end), 0)
        self.assertTrue(first.record_event().query())
        self.assertIsInstance(first, torch.Stream)
        self.assertIsInstance(end, torch.Event)
        with self.assertRaises(ValueError):
            torch.Event(device).elapsed_time(end)
        module = torch.get_device_module(device)
        with module.stream(module.Stream()):
            self.assertNotEqual(module.current_stream(), module.default_stream())
        torch.ones(2, device=device).record_stream(first)

    def test_cpu_generators_stay_as_they_are(self, device):
        generator = torch.Generator()
        self.assertEqual(generator.device.type, "cpu")
        self.assertEqual(torch.rand(2, generator=generator.manual_seed(1)).shape, (2,))
        self.assertIsInstance(torch.default_generator, torch.Generator)

    def test_generators(self, device):
        generator = torch.Generator(device=device).manual_seed(5)
        self.assertEqual(generator.device, torch.device(device))
        self.assertIsInstance(generator, torch.Generator)
        first = torch.rand(3, device=device, generator=generator)
        again = torch.rand(3, device=device, generator=torch.Generator(device).manual_seed(5))
        self.assertEqual(first.cpu(), again.cpu())
        restored = pickle.loads(pickle.dumps(generator))
        self.assertEqual(
            torch.rand(3, device=device, generator=generator).cpu(),
            torch.rand(3, device=device, generator=restored).cpu(),
        )
        with self.assertRaisesRegex(RuntimeError, "device type for generator"):
            torch.rand(3, device=device, generator=torch.Generator())

    def test_random_state(self, device):
        module = torch.get_device_module(device)
        torch.manual_seed(3)
        state = module.get_rng_state()
        first = torch.rand(4, device=device)
        module.set_rng_state(state)
        self.assertEqual(torch.rand(4, device=device).cpu(), first.cpu())
        torch.manual_seed(3)
        self.assertEqual(torch.rand(4, device=device).cpu(), first.cpu())
        module.manual_seed_all(3)
        self.assertEqual(torch.rand(4, device=device).cpu(), first.cpu())
        self.assertEqual(module.initial_seed(), 3)
        self.assertEqual(len(module.get_rng_state_all()), module.device_count())

    def test_random_numbers_leave_the_cpu_alone(self, device):
        state = torch.get_rng_state()
        torch.rand(3, device=device)
        torch.nn.functional.dropout(torch.ones(10, device=device))
        self.assertEqual(torch.get_rng_state(), state)

    def test_fork_rng(self, device):
        torch.manual_seed(1)
        with torch.random.fork_rng(devices=[0], device_type=self.device_type):
            torch.manual_seed(2)
            torch.rand(3, device=device)
        inside = torch.rand(3, device=device)
        torch.manual_seed(1)
        self.assertEqual(torch.rand(3, device=device).cpu(), inside.cpu())

    def test_autocast(self, device):
        layer, data = torch.nn.Linear(2, 2).to(device), torch.ones(1, 2, device=device)
        with torch.autocast(self.device_type, dtype=torch.bfloat16):
            self.assertEqual(layer(data).dtype, torch.bfloat16)
            with torch.autocast(self.device_type, enabled=False):
                self.assertEqual(layer(data).dtype, torch.float32)
        self.assertEqual(layer(data).dtype, torch.float32)

    def test_profiler(self, device):
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.PrivateUse1]) as profiled:
            torch.ones(2, device=device).add_(1)
        self.assertTrue(any("add" in event.name for event in profiled.events()))

    def test_default_device(self, device):
        with torch.device(device):
            self.assertEqual(torch.ones(2).device, torch.device(device))
            self.assertEqual(torch.tensor([1]).device, torch.device(device))

    def test_generated_methods(self, device):
        tensor = getattr(torch.ones(2), self.device_type)()
        self.assertEqual(tensor.device, torch.device(device))
        self.assertTrue(getattr(tensor, f"is_{self.device_type}"))

    def test_unknown_device_is_refused(self, device):
        with self.assertRaises(ValueError):
            torch.get_device_module(device).memory_allocated("cpu")


instantiate_device_type_tests(TestDeviceModule, globals(), except_for="cpu")

if __name__ == "__main__":
    run_tests()
