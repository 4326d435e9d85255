/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const resourceMessages = {
  'io.k8s.api.resource.v1': `
AllocatedDeviceStatus: driver pool device conditions data networkData shareID
AllocationResult: devices 3:nodeSelector 5:allocationTimestamp
CELDeviceSelector: expression
CapacityRequestPolicy: default 3:validValues validRange
CapacityRequestPolicyRange: min max step
CapacityRequirements: requests
Counter: value
CounterSet: name counters
Device: name attributes capacity consumesCounters nodeName nodeSelector allNodes taints bindsToNode bindingConditions
  bindingFailureConditions allowMultipleAllocations nodeAllocatableResourceMappings
DeviceAllocationConfiguration: source requests ...DeviceConfiguration
DeviceAllocationResult: results config
DeviceAttribute: 2:int bool string version ints bools strings versions
DeviceCapacity: value requestPolicy
DeviceClaim: requests constraints config
DeviceClaimConfiguration: requests ...DeviceConfiguration
DeviceClass: metadata spec
DeviceClassConfiguration: ...DeviceConfiguration
DeviceClassSpec: selectors config 4:extendedResourceName
DeviceConfiguration: opaque
DeviceConstraint: requests matchAttribute distinctAttribute
DeviceCounterConsumption: counterSet counters
DeviceRequest: name exactly firstAvailable
DeviceRequestAllocationResult: request driver pool device adminAccess tolerations bindingConditions bindingFailureConditions
  shareID consumedCapacity
DeviceSelector: cel
DeviceSubRequest: name deviceClassName selectors allocationMode count tolerations capacity
DeviceTaint: key value effect timeAdded
DeviceToleration: key operator value effect tolerationSeconds
ExactDeviceRequest: deviceClassName selectors allocationMode count adminAccess tolerations capacity
NetworkDeviceData: interfaceName ips hardwareAddress
NodeAllocatableResourceMapping: capacityKey allocationMultiplier
OpaqueDeviceConfiguration: driver parameters
ResourceClaim: metadata spec status
ResourceClaimConsumerReference: apiGroup 3:resource name uid
ResourceClaimSpec: devices
ResourceClaimStatus: allocation reservedFor 4:devices
ResourceClaimTemplate: metadata spec
ResourceClaimTemplateSpec: metadata spec
ResourcePool: name generation resourceSliceCount
ResourceSlice: metadata spec
ResourceSliceSpec: driver pool nodeName nodeSelector allNodes devices perDeviceNodeSelection sharedCounters
`,
} as const
