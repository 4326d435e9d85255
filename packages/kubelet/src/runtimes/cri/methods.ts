import type { Message, Method } from '@coracle/environment/grpc'
import * as messages from './messages.ts'

const runtimeService = 'runtime.v1.RuntimeService'
const imageService = 'runtime.v1.ImageService'

const method = <Request extends Message, Response extends Message>(
  service: string,
  name: string,
  request: Request,
  response: Response,
): Method<Request, Response> => ({ path: `/${service}/${name}`, request, response })

const { empty, podSandboxId, containerId, imageRequest, streamingUrl } = messages

/** The procedures of the runtime service that are used. */
export const runtimeMethods = {
  version: method(runtimeService, 'Version', messages.versionRequest, messages.versionResponse),
  status: method(runtimeService, 'Status', empty, messages.statusResponse),
  runPodSandbox: method(runtimeService, 'RunPodSandbox', messages.runPodSandboxRequest, podSandboxId),
  stopPodSandbox: method(runtimeService, 'StopPodSandbox', podSandboxId, empty),
  removePodSandbox: method(runtimeService, 'RemovePodSandbox', podSandboxId, empty),
  podSandboxStatus: method(
    runtimeService,
    'PodSandboxStatus',
    messages.podSandboxStatusRequest,
    messages.podSandboxStatusResponse,
  ),
  listPodSandbox: method(
    runtimeService,
    'ListPodSandbox',
    messages.listPodSandboxRequest,
    messages.listPodSandboxResponse,
  ),
  createContainer: method(runtimeService, 'CreateContainer', messages.createContainerRequest, containerId),
  startContainer: method(runtimeService, 'StartContainer', containerId, empty),
  stopContainer: method(runtimeService, 'StopContainer', messages.stopContainerRequest, empty),
  removeContainer: method(runtimeService, 'RemoveContainer', containerId, empty),
  listContainers: method(
    runtimeService,
    'ListContainers',
    messages.listContainersRequest,
    messages.listContainersResponse,
  ),
  containerStatus: method(
    runtimeService,
    'ContainerStatus',
    messages.containerStatusRequest,
    messages.containerStatusResponse,
  ),
  updateContainerResources: method(
    runtimeService,
    'UpdateContainerResources',
    messages.updateContainerResourcesRequest,
    empty,
  ),
  reopenContainerLog: method(runtimeService, 'ReopenContainerLog', containerId, empty),
  execSync: method(runtimeService, 'ExecSync', messages.execSyncRequest, messages.execSyncResponse),
  exec: method(runtimeService, 'Exec', messages.execRequest, streamingUrl),
  attach: method(runtimeService, 'Attach', messages.attachRequest, streamingUrl),
  portForward: method(runtimeService, 'PortForward', messages.portForwardRequest, streamingUrl),
  listContainerStats: method(
    runtimeService,
    'ListContainerStats',
    messages.listContainerStatsRequest,
    messages.listContainerStatsResponse,
  ),
  listPodSandboxStats: method(
    runtimeService,
    'ListPodSandboxStats',
    messages.listPodSandboxStatsRequest,
    messages.listPodSandboxStatsResponse,
  ),
  getContainerEvents: method(runtimeService, 'GetContainerEvents', empty, messages.containerEvent),
} as const

/** The procedures of the image service. */
export const imageMethods = {
  listImages: method(imageService, 'ListImages', empty, messages.listImagesResponse),
  imageStatus: method(imageService, 'ImageStatus', imageRequest, messages.imageStatusResponse),
  pullImage: method(imageService, 'PullImage', messages.pullImageRequest, messages.pullImageResponse),
  removeImage: method(imageService, 'RemoveImage', imageRequest, empty),
  imageFsInfo: method(imageService, 'ImageFsInfo', empty, messages.imageFsInfoResponse),
} as const
