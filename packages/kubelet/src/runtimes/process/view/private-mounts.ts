import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { runsAsRoot } from '../process-user.ts'
import { beforeShim, missingPrograms, ownNamespace, program, type ViewUser } from './enter-view.ts'

let known: { readonly problem: string | undefined } | undefined

/**
 * Why containers cannot have mounts of their own on this host; undefined where they can. Found out once, by a process that has some, which takes some
 * milliseconds.
 */
export function privateMountsProblem(): string | undefined {
  known ??= { problem: findProblem() }
  return known.problem
}

/** Whoever runs the node agent, as far as views have to know. */
export const ownViewUser = (): ViewUser =>
  runsAsRoot() ? {} : { own: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 } }

/** What is done for a view, and no more: $1 is a directory to do it over, the rest goes into it. */
const trial = `
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t tmpfs --make-unbindable tmpfs "$1" && mount --rbind / "$1" && shift && exec "$@"`

function findProblem(): string | undefined {
  if (process.platform !== 'linux') return 'only Linux has them'
  const missing = missingPrograms()
  if (missing.length > 0) return `they take util-linux, of which ${missing.join(' and ')} is not there`
  const user = ownViewUser()
  const directory = tmpdir()
  const unshare = program('unshare')
  const making = [
    unshare,
    '--mount',
    '--uts',
    '--propagation',
    'slave',
    '--',
    '/bin/sh',
    '-c',
    trial,
    'coracle-trial',
    directory,
  ]
  const entering = [unshare, ...ownNamespace(user), `--root=${directory}`, '--', '/bin/sh', '-c', ':']
  const [file = '', ...args] = [...beforeShim(user), ...making, ...entering]
  const { status, stderr, error } = spawnSync(file, args, { encoding: 'utf8', env: {}, cwd: '/' })
  if (status === 0) return undefined
  const [said = ''] = stderr?.trim().split('\n') ?? []
  return error?.message ?? (said || 'this host does not allow them')
}
