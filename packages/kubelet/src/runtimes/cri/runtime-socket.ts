import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'

/** A container runtime cannot be used; the message says why, and what to do. */
export class CriRuntimeError extends Error {
  override readonly name = 'CriRuntimeError'
}

/** Of which kind a runtime is to be. */
export type RuntimeProtocol = 'cri' | 'docker'

const examples = {
  cri: { socket: 'unix:///run/containerd/containerd.sock', start: 'systemctl start containerd' },
  docker: { socket: 'unix:///var/run/docker.sock', start: 'systemctl start docker` or `systemctl start podman.socket' },
} as const

/** Rejects with a `CriRuntimeError`, which says what to do, where an endpoint is no socket that may be used. */
export async function checkSocket(endpoint: string, protocol: RuntimeProtocol): Promise<void> {
  const path = /^unix:\/\/(\/.+)$/.exec(endpoint)?.[1]
  if (path === undefined) {
    throw new CriRuntimeError(
      `${endpoint} is no endpoint of a container runtime: give the path of its socket, as in ${examples[protocol].socket}`,
    )
  }
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error) {
    if (found.code === 'EACCES') throw new CriRuntimeError(noPermission(endpoint))
    throw new CriRuntimeError(
      `no container runtime listens at ${endpoint}: start it, as with \`${examples[protocol].start}\`, or name the socket of another`,
    )
  }
  if (!found.isSocket()) throw new CriRuntimeError(`${path} is not a socket: name that of a container runtime`)
  await access(path, constants.R_OK | constants.W_OK).catch(() => {
    throw new CriRuntimeError(noPermission(endpoint))
  })
}

const noPermission = (endpoint: string): string =>
  `no permission to use the container runtime at ${endpoint}: run this as root, or as a member of the group that its socket belongs to`
