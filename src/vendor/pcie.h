/* SPDX-License-Identifier: MIT */
/* What a device's PCI configuration space says of its link. */
#ifndef SMEFF_VENDOR_PCIE_H
#define SMEFF_VENDOR_PCIE_H

/* The most payload, in bytes, that the device puts into one packet (Max_Payload_Size of Device
 * Control, PCI Express Base Specification 7.5.3.4). bus is "0000:01:00.0"; root is put in front of
 * /sys. 0 = not known: only root may read so far. */
unsigned pcie_max_payload(const char *root, const char *bus);

#endif
