/** How much there may be of what: the constants of upstream's `pkg/apis/resource/types.go`. */
export const deviceRequestsMax = 32
export const deviceConstraintsMax = 32
export const deviceConfigMax = 32
export const deviceSelectorsMax = 32
export const firstAvailableMax = 8
export const tolerationsMax = 16
export const reservedForMax = 256
/** How many devices a claim may have. */
export const allocationResultsMax = 32
export const selectorBytesMax = 10 * 1024
/** What a selector may cost, by the units of CEL, before it is refused and while it runs. */
export const selectorCostMax = 1_000_000
export const opaqueParametersBytesMax = 10 * 1024
export const bindingConditionsMax = 4

export const devicesPerSliceMax = 128
/** Of devices with taints, or that consume counters. */
export const advancedDevicesPerSliceMax = 64
export const attributesAndCapacitiesMax = 32
export const deviceTaintsMax = 16
export const counterSetsMax = 8
export const countersMax = 32
export const counterConsumptionsMax = 2
export const capacityOptionsMax = 10

export const poolNameBytesMax = 253
export const domainBytesMax = 63
export const identifierBytesMax = 32
export const attributeValueBytesMax = 64

export const deviceConditionsMax = 8
export const deviceDataBytesMax = 10 * 1024
export const interfaceNameBytesMax = 256
export const hardwareAddressBytesMax = 128
export const deviceAddressesMax = 16
