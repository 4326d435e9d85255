import { join } from 'node:path'
import { agentIdOf } from '../cri/agent-id.ts'
import { CriRuntime } from '../cri/cri-runtime.ts'
import { openVolumeParts } from '../cri/parts/open-volume-parts.ts'
import { type CriRuntimeOptions, podLogsDirectoryDefault } from '../cri/runtime-options.ts'
import { CriRuntimeError, checkSocket } from '../cri/runtime-socket.ts'
import { type Runtime, RuntimeUnavailableError } from '../runtime.ts'
import { DockerService } from './docker-service.ts'
import { Engine, EngineVersionError } from './engine.ts'
import { infraImageDefault } from './infra-image.ts'

/** How long an engine has to answer for the first time. */
const openTimeoutMs = 10_000

/** As of a runtime that speaks the Container Runtime Interface; the endpoint is `unix:///var/run/docker.sock` or Podman's. */
export interface DockerRuntimeOptions extends CriRuntimeOptions {
  /** What sandboxes are made of. Absent: an image that is made on the spot. */
  readonly infraImage?: string
}

/**
 * Opens Docker or Podman as a container runtime, by the Docker Engine API 1.41 or later. It sees its own containers alone. Rejects with a
 * `CriRuntimeError` where there is no such engine.
 */
export async function openDockerRuntime(options: DockerRuntimeOptions): Promise<Runtime> {
  const { environment, endpoint, directory, podLogsDirectory = podLogsDirectoryDefault } = options
  await checkSocket(endpoint, 'docker')
  const engine = new Engine(endpoint, environment.clock)
  const { name, version } = await engine.negotiate(openTimeoutMs).catch((error) => {
    throw explained(error)
  })
  const agent = await agentIdOf(directory, environment)
  const filesDirectory = join(directory, 'pod-files')
  const infraImage = options.infraImage ?? infraImageDefault
  const service = new DockerService({ environment, engine, name, version, agent, filesDirectory, infraImage })
  const runtime = new CriRuntime({
    environment,
    service,
    name,
    version,
    supportsGroupsPolicy: false,
    lackOfImageVolumes: () => `images are not mounted as volumes with ${name}`,
    agent,
    filesDirectory,
    imageRecordsDirectory: join(directory, 'image-records'),
    logsDirectory: podLogsDirectory,
    volumeParts: openVolumeParts(options),
  })
  try {
    await runtime.start()
    return runtime
  } catch (error) {
    await runtime.close()
    throw explained(error)
  }
}

function explained(error: unknown): unknown {
  if (error instanceof EngineVersionError) return new CriRuntimeError(error.message)
  if (error instanceof RuntimeUnavailableError)
    return new CriRuntimeError(`${error.message}: start it, or name the socket of another`)
  return error
}
