import { closeSync, constants, lstatSync, mkdirSync, openSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isTokenMount } from '@coracle/api'
import { type ContainerConfig, ContainerConfigError, type ContainerUser, type Mount } from '../runtime.ts'

/** Whether a volume can only be where it should for a container with a view of its own. */
export const needsView = (mount: Mount): boolean =>
  isInView(mount) && resolve(mount.containerPath) !== resolve(mount.hostPath ?? '')

/** Whether a volume is a part of the view of a container that has one. */
export const isInView = ({ containerPath, hostPath }: Mount): boolean =>
  hostPath !== undefined && isAbsolute(containerPath)

/**
 * Has the volumes of a container appear where it is to find them, as links in its own directory. Without a view of its own it sees
 * the files of all, so that is the only place where something can be put for it alone: a mount has to have a relative path, which is below that
 * directory as it is below the root elsewhere; or the path that the volume has on the node, where it is anyway. `problem` is why it has no view.
 *
 * The token that every pod gets where some node has a container runtime is one that nobody has asked to be here. It is below that directory,
 * too, or left out where another directory is asked for: client libraries look for it at an absolute path and do not find it either way.
 */
export function placeMounts(
  { mounts, workingDirectory }: ContainerConfig,
  workDirectory: string,
  user?: ContainerUser,
  problem?: string,
): void {
  const place = user === undefined ? placeIn : placeForAnother
  for (const mount of mounts) {
    const { containerPath, hostPath } = mount
    if (hostPath === undefined)
      throw new ContainerConfigError(refusal(mount, 'no driver of this node brings volumes of its kind'))
    if (isAbsolute(containerPath) && !needsView(mount)) continue
    const instead = relative('/', resolve('/', containerPath))
    if (isTokenMount(mount.name, containerPath)) {
      if (!workingDirectory) place({ ...mount, containerPath: instead }, hostPath, workDirectory)
      continue
    }
    if (isAbsolute(containerPath) || workingDirectory) {
      throw new ContainerConfigError(
        refusal(
          mount,
          `set mountPath: ${instead}, without a workingDir, and use it from where the container starts`,
          isAbsolute(containerPath) ? problem : undefined,
        ),
      )
    }
    place(mount, hostPath, workDirectory)
  }
}

function placeIn(mount: Mount, hostPath: string, workDirectory: string): void {
  const path = join(workDirectory, wayOf(mount, workDirectory))
  const present = lstatSync(path, { throwIfNoEntry: false })
  if (present === undefined) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    symlinkSync(hostPath, path)
  } else if (!present.isSymbolicLink() || readlinkSync(path) !== hostPath) {
    throw new ContainerConfigError(refusal(mount, inItsPlace))
  }
}

const inItsPlace = 'there is something else in its place'

/** Where a mount is below the directory of its container. */
function wayOf(mount: Mount, workDirectory: string): string {
  const way = relative(workDirectory, resolve(workDirectory, mount.containerPath))
  if (way.startsWith('..')) {
    throw new ContainerConfigError(refusal(mount, 'it would be outside of the directory of the container'))
  }
  return way
}

/**
 * The same where the directory is another user's, who may have put links there: none is followed. Each step goes by a descriptor of the
 * directory before it, so that nothing can be changed in between (Linux).
 */
function placeForAnother(mount: Mount, hostPath: string, workDirectory: string): void {
  const names = wayOf(mount, workDirectory).split(sep)
  const last = names.pop() ?? ''
  const handles = [openDirectory(workDirectory)]
  const within = (name: string) => `/proc/self/fd/${handles.at(-1)}/${name}`
  try {
    for (const name of names) {
      mkdirUnlessThere(within(name))
      handles.push(openDirectory(within(name)))
    }
    if (lstatSync(within(last), { throwIfNoEntry: false }) === undefined) symlinkSync(hostPath, within(last))
    else if (readlinkSync(within(last)) !== hostPath) throw new Error(inItsPlace)
  } catch {
    throw new ContainerConfigError(refusal(mount, inItsPlace))
  } finally {
    for (const handle of handles) closeSync(handle)
  }
}

const openDirectory = (path: string): number =>
  openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)

function mkdirUnlessThere(path: string): void {
  try {
    mkdirSync(path, { mode: 0o755 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const refusal = ({ name, containerPath }: Mount, why: string, problem?: string): string =>
  `volumeMount "${name}" cannot be mounted at ${containerPath}: containers of the process runtime share the host's file system` +
  `${problem === undefined ? '' : ` and cannot have mounts of their own here (${problem})`}: ${why}`
