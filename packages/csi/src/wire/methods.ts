import type { Message, Method } from '@coracle/environment/grpc'
import * as messages from './messages.ts'

const method = <Request extends Message, Response extends Message>(
  service: string,
  name: string,
  request: Request,
  response: Response,
): Method<Request, Response> => ({ path: `/${service}/${name}`, request, response })

const { empty } = messages
const registration = 'pluginregistration.Registration'
const node = 'csi.v1.Node'

/** The procedures of those who register drivers. */
export const registrationMethods = {
  getInfo: method(registration, 'GetInfo', empty, messages.pluginInfo),
  notifyRegistrationStatus: method(registration, 'NotifyRegistrationStatus', messages.registrationStatus, empty),
} as const

/** The procedures of drivers on nodes that are used. */
export const nodeMethods = {
  getInfo: method(node, 'NodeGetInfo', empty, messages.nodeGetInfoResponse),
  getCapabilities: method(node, 'NodeGetCapabilities', empty, messages.nodeGetCapabilitiesResponse),
  stageVolume: method(node, 'NodeStageVolume', messages.nodeStageVolumeRequest, empty),
  unstageVolume: method(node, 'NodeUnstageVolume', messages.nodeUnstageVolumeRequest, empty),
  publishVolume: method(node, 'NodePublishVolume', messages.nodePublishVolumeRequest, empty),
  unpublishVolume: method(node, 'NodeUnpublishVolume', messages.nodeUnpublishVolumeRequest, empty),
} as const
