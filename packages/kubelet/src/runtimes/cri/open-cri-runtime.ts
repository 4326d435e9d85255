import { join } from 'node:path'
import { type Runtime, RuntimeUnavailableError } from '../runtime.ts'
import { agentIdOf } from './agent-id.ts'
import { isUnimplemented } from './calls.ts'
import { CriConnection } from './connection.ts'
import { CriRuntime } from './cri-runtime.ts'
import { grpcService } from './grpc-service.ts'
import { lackOfImageVolumes } from './image-volumes.ts'
import { openVolumeParts } from './parts/open-volume-parts.ts'
import { type CriRuntimeOptions, podLogsDirectoryDefault } from './runtime-options.ts'
import { CriRuntimeError, checkSocket } from './runtime-socket.ts'
import { unifiedSettings } from './unified-settings.ts'

/** How long a runtime has to answer for the first time. */
const openTimeoutMs = 10_000

/**
 * Opens a container runtime that speaks the Container Runtime Interface v1. It has its containers in common with nobody: those of other
 * node agents on the same runtime are left alone. Rejects with a `CriRuntimeError` where there is no such runtime.
 */
export async function openCriRuntime(options: CriRuntimeOptions): Promise<Runtime> {
  const { environment, endpoint, directory, podLogsDirectory = podLogsDirectoryDefault } = options
  await checkSocket(endpoint, 'cri')
  const service = grpcService(new CriConnection(endpoint, environment.clock), environment.clock)
  try {
    const { runtimeName, runtimeVersion } = await service.calls.version(
      { version: '0.1.0' },
      { timeoutMs: openTimeoutMs },
    )
    const { features } = await service.calls.status({}, { timeoutMs: openTimeoutMs })
    const version = runtimeVersion.replace(/^v/, '')
    const runtime = new CriRuntime({
      environment,
      service,
      name: runtimeName,
      version,
      lackOfImageVolumes: (path) => lackOfImageVolumes(runtimeName, version, path),
      supportsGroupsPolicy: features?.supplementalGroupsPolicy === true,
      agent: await agentIdOf(directory, environment),
      filesDirectory: join(directory, 'pod-files'),
      imageRecordsDirectory: join(directory, 'image-records'),
      logsDirectory: podLogsDirectory,
      volumeParts: openVolumeParts(options),
      unified: await unifiedSettings(),
    })
    await runtime.start()
    return runtime
  } catch (error) {
    service.close()
    throw explained(error, endpoint)
  }
}

function explained(error: unknown, endpoint: string): unknown {
  if (isUnimplemented(error) && error instanceof Error) {
    return new CriRuntimeError(
      `validate CRI v1 runtime API for endpoint ${JSON.stringify(endpoint)}: ${error.message}: what listens there has no ` +
        'Container Runtime Interface v1, or it is disabled (disabled_plugins in the configuration of containerd)',
    )
  }
  if (error instanceof RuntimeUnavailableError)
    return new CriRuntimeError(`${error.message}: start it, or name the socket of another`)
  return error
}
