import { message } from '@coracle/environment/grpc-messages'

/*
 * The device plugin API v1beta1 as data: names as in its api.proto, numbers as on the wire.
 * https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/api.proto
 */

export const empty = message({})

export const devicePluginOptions = message({
  preStartRequired: [1, 'bool'],
  getPreferredAllocationAvailable: [2, 'bool'],
})

export const registerRequest = message({
  version: [1, 'string'],
  endpoint: [2, 'string'],
  resourceName: [3, 'string'],
  options: [4, devicePluginOptions],
})

export const listAndWatchResponse = message({
  devices: [1, [message({ id: [1, 'string'], health: [2, 'string'] })]],
})

export const preStartContainerRequest = message({ deviceIds: [1, ['string']] })

export const preferredAllocationRequest = message({
  containerRequests: [
    1,
    [
      message({
        availableDeviceIds: [1, ['string']],
        mustIncludeDeviceIds: [2, ['string']],
        allocationSize: [3, 'int32'],
      }),
    ],
  ],
})

export const preferredAllocationResponse = message({
  containerResponses: [1, [message({ deviceIds: [1, ['string']] })]],
})

export const allocateRequest = message({ containerRequests: [1, [message({ deviceIds: [1, ['string']] })]] })

export const containerAllocateResponse = message({
  envs: [1, 'map'],
  mounts: [2, [message({ containerPath: [1, 'string'], hostPath: [2, 'string'], readOnly: [3, 'bool'] })]],
  devices: [3, [message({ containerPath: [1, 'string'], hostPath: [2, 'string'], permissions: [3, 'string'] })]],
  annotations: [4, 'map'],
  cdiDevices: [5, [message({ name: [1, 'string'] })]],
})

export const allocateResponse = message({ containerResponses: [1, [containerAllocateResponse]] })
