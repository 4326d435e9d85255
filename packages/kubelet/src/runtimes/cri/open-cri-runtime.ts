import { constants } from 'node:fs'
import { access, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '@coracle/environment'
import { type Runtime, RuntimeUnavailableError } from '../runtime.ts'
import { isUnimplemented } from './calls.ts'
import { CriConnection } from './connection.ts'
import { CriRuntime } from './cri-runtime.ts'
import { grpcService } from './grpc-service.ts'

/** Where containers' logs are, as on any node, where nothing else is said. */
export const podLogsDirectoryDefault = '/var/log/pods'
/** How long a runtime has to answer for the first time. */
const openTimeoutMs = 10_000

export interface CriRuntimeOptions {
  readonly environment: Environment
  /** The socket of the runtime: `unix:///run/containerd/containerd.sock`. */
  readonly endpoint: string
  /** Where the node agent keeps what it makes for pods, and who it is: whoever opens the runtime on it next takes up what runs. */
  readonly directory: string
  /** Where the logs of pods are, each in a directory `NAMESPACE_NAME_UID`. Absent: `podLogsDirectoryDefault`. */
  readonly podLogsDirectory?: string
}

/** A container runtime cannot be used; the message says why, and what to do. */
export class CriRuntimeError extends Error {
  override readonly name = 'CriRuntimeError'
}

/**
 * Opens a container runtime that speaks the Container Runtime Interface v1. It has its containers in common with nobody: those of other
 * node agents on the same runtime are left alone. Rejects with a `CriRuntimeError` where there is no such runtime.
 */
export async function openCriRuntime(options: CriRuntimeOptions): Promise<Runtime> {
  const { environment, endpoint, directory, podLogsDirectory = podLogsDirectoryDefault } = options
  await checkSocket(endpoint)
  const service = grpcService(new CriConnection(endpoint, environment.clock), environment.clock)
  try {
    const { runtimeName, runtimeVersion } = await service.calls.version(
      { version: '0.1.0' },
      { timeoutMs: openTimeoutMs },
    )
    const { features } = await service.calls.status({}, { timeoutMs: openTimeoutMs })
    const runtime = new CriRuntime({
      environment,
      service,
      name: runtimeName,
      version: runtimeVersion.replace(/^v/, ''),
      supportsGroupsPolicy: features?.supplementalGroupsPolicy === true,
      agent: await agentIdOf(directory, environment),
      filesDirectory: join(directory, 'pod-files'),
      logsDirectory: podLogsDirectory,
    })
    await runtime.start()
    return runtime
  } catch (error) {
    service.close()
    throw explained(error, endpoint)
  }
}

async function checkSocket(endpoint: string): Promise<void> {
  const path = /^unix:\/\/(\/.+)$/.exec(endpoint)?.[1]
  if (path === undefined) {
    throw new CriRuntimeError(
      `${endpoint} is no endpoint of a container runtime: give the path of its socket, as in unix:///run/containerd/containerd.sock`,
    )
  }
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error) {
    if (found.code === 'EACCES') throw new CriRuntimeError(noPermission(endpoint))
    throw new CriRuntimeError(
      `no container runtime listens at ${endpoint}: start it, as with \`systemctl start containerd\`, or name the socket of another`,
    )
  }
  if (!found.isSocket()) throw new CriRuntimeError(`${path} is not a socket: name that of a container runtime`)
  await access(path, constants.R_OK | constants.W_OK).catch(() => {
    throw new CriRuntimeError(noPermission(endpoint))
  })
}

const noPermission = (endpoint: string): string =>
  `no permission to use the container runtime at ${endpoint}: run this as root, or as a member of the group that its socket belongs to`

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

/** By what the containers of a node agent are known among all of the runtime. It outlives the agent, and moves with its directory. */
async function agentIdOf(directory: string, { random }: Environment): Promise<string> {
  const path = join(directory, 'agent-id')
  const known = await readFile(path, 'utf8').catch(() => '')
  if (known !== '') return known.trim()
  const id = random.string(16, '0123456789abcdef')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(path, `${id}\n`, { mode: 0o600 })
  return id
}
