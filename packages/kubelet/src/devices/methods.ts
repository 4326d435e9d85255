import type { Message, Method } from '@coracle/environment/grpc'
import {
  allocateRequest,
  allocateResponse,
  devicePluginOptions,
  empty,
  listAndWatchResponse,
  preferredAllocationRequest,
  preferredAllocationResponse,
  preStartContainerRequest,
  registerRequest,
} from './messages.ts'

const method = <Request extends Message, Response extends Message>(
  path: string,
  request: Request,
  response: Response,
): Method<Request, Response> => ({ path: `/v1beta1.${path}`, request, response })

/** What a node agent answers device plugins. */
export const registrationMethods = { register: method('Registration/Register', registerRequest, empty) }

/** What a device plugin answers. */
export const devicePluginMethods = {
  getDevicePluginOptions: method('DevicePlugin/GetDevicePluginOptions', empty, devicePluginOptions),
  /** Answers with all its devices, and again whenever one of them changes. */
  listAndWatch: method('DevicePlugin/ListAndWatch', empty, listAndWatchResponse),
  getPreferredAllocation: method(
    'DevicePlugin/GetPreferredAllocation',
    preferredAllocationRequest,
    preferredAllocationResponse,
  ),
  allocate: method('DevicePlugin/Allocate', allocateRequest, allocateResponse),
  preStartContainer: method('DevicePlugin/PreStartContainer', preStartContainerRequest, empty),
}
