import { lstatSync, mkdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { isTokenMount } from '@coracle/api'
import { type ContainerConfig, ContainerConfigError, type Mount } from '../runtime.ts'

/**
 * Has the volumes of a container appear where it is to find them, as links in its own directory. All processes see one file system, so
 * that is the only place where something can be put for one container: a mount has to have a relative path, which is below that
 * directory as it is below the root elsewhere; or the path that the volume has on the node, where it is anyway.
 *
 * The token that every pod gets where some node has a container runtime is one that nobody has asked to be here. It is below that directory,
 * too, or left out where another directory is asked for: client libraries look for it at an absolute path and do not find it either way.
 */
export function placeMounts({ mounts, workingDirectory }: ContainerConfig, workDirectory: string): void {
  for (const mount of mounts) {
    const { containerPath, hostPath } = mount
    if (hostPath === undefined)
      throw new ContainerConfigError(refusal(mount, 'no driver of this node brings volumes of its kind'))
    if (resolve('/', containerPath) === resolve(hostPath) && isAbsolute(containerPath)) continue
    const instead = relative('/', resolve('/', containerPath))
    if (isTokenMount(mount.name, containerPath)) {
      if (!workingDirectory) place({ ...mount, containerPath: instead }, hostPath, workDirectory)
      continue
    }
    if (isAbsolute(containerPath) || workingDirectory) {
      throw new ContainerConfigError(
        refusal(mount, `set mountPath: ${instead}, without a workingDir, and use it from where the container starts`),
      )
    }
    place(mount, hostPath, workDirectory)
  }
}

function place(mount: Mount, hostPath: string, workDirectory: string): void {
  const path = resolve(workDirectory, mount.containerPath)
  if (relative(workDirectory, path).startsWith('..')) {
    throw new ContainerConfigError(refusal(mount, 'it would be outside of the directory of the container'))
  }
  const present = lstatSync(path, { throwIfNoEntry: false })
  if (present === undefined) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    symlinkSync(hostPath, path)
  } else if (!present.isSymbolicLink() || readlinkSync(path) !== hostPath) {
    throw new ContainerConfigError(refusal(mount, 'there is something else in its place'))
  }
}

const refusal = ({ name, containerPath }: Mount, why: string): string =>
  `volumeMount "${name}" cannot be mounted at ${containerPath}: containers of the process runtime share the host's file system: ${why}`
