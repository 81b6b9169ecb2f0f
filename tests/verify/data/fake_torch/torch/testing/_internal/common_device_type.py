class DeviceTypeTestBase:
    device_type = "cpu"


device_type_test_bases = [DeviceTypeTestBase]
