import { readFileSync } from 'node:fs'
import type { AskedUser, ContainerUser } from '../runtime.ts'
import type { Command } from './command.ts'
import { utilLinuxProgram } from './util-linux.ts'
import { restoring, variablesUnder } from './variables.ts'

/** Who the processes of a container are, where they are not whoever runs the node agent. */
export interface ProcessUser extends ContainerUser {
  readonly home: string
  /** The group of its pod, which may pass to the pod's volumes; no part of what the API shows, which has no numbers as high. */
  readonly podGroup?: number
  readonly noNewPrivileges: boolean
}

/** The user `nobody` of every Linux, and its group. */
const nobody = 65_534

/**
 * Who a container's processes are. What a container does not say is as the host's accounts have it, where elsewhere it is as those of
 * the image. Who has no account there is in nobody's group: in group 0, as with container runtimes, it could read what the host keeps for
 * root's. Other groups of an account are not taken: that of Docker, say, would make it root. A container that must not be root and names
 * nobody is `nobody`.
 * Undefined where they are whoever runs the node agent: only root can start processes as others, which nobody else is asked for.
 */
export function processUser(
  asked: AskedUser | undefined,
  canBeOthers: boolean = runsAsRoot(),
  accounts: () => string = hostAccounts,
): ProcessUser | undefined {
  if (asked === undefined || !canBeOthers) return undefined
  const { runAsUser, runAsGroup, supplementalGroups, neverRoot, noNewPrivileges } = asked
  const uid = runAsUser ?? (neverRoot ? nobody : 0)
  if (uid === 0 && runAsGroup === undefined && supplementalGroups.length === 0) return undefined
  const rows = accounts()
    .split('\n')
    .map((line) => line.split(':'))
  const [, , , accountGid, , home] = rows.find((row) => row[2] === String(uid)) ?? []
  const gid = runAsGroup ?? Number(accountGid ?? (uid === 0 ? 0 : nobody))
  return {
    uid,
    gid,
    supplementalGroups: [...new Set([gid, ...supplementalGroups])],
    home: home ?? '/',
    noNewPrivileges,
  }
}

/** All groups that processes of a user are in. */
export const groupsOf = ({ supplementalGroups, podGroup }: ProcessUser): readonly number[] =>
  podGroup === undefined ? supplementalGroups : [...supplementalGroups, podGroup]

/** Whether processes can be started as others than whoever runs the node agent. */
export const runsAsRoot = (): boolean => process.platform === 'linux' && process.getuid?.() === 0

/** /etc/passwd. */
function hostAccounts(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    return ''
  }
}

/** Where `setpriv` is on systems that have it. */
const setprivPrograms: readonly string[] = ['/usr/bin/setpriv', '/bin/setpriv']

/** Names of variables on their way to the user. */
const variablePrefix = 'CORACLE_USER_'

/**
 * The command, run by whom it is to be run. What runs as root until then must not obey the container's variables (LD_PRELOAD and the like), so
 * they go by other names until the user has changed. In a view, if it has one. Throws where this host has no program for that.
 */
export function asItsUser(command: Command, programs: readonly string[] = setprivPrograms): Command {
  const { argv, env, user, enter } = command
  if (enter !== undefined) return enter(command)
  if (user === undefined) return command
  const restored = ['/bin/sh', '-c', `${restoring(variablePrefix)}exec "$@"`, 'coracle-user']
  const count = String(Object.keys(env).length)
  return {
    ...command,
    argv: [...asUser(user, programs), ...restored, count, ...argv],
    env: variablesUnder(variablePrefix, env),
  }
}

/** What stands before what is to be run by a user. Throws where this host has no program for that. */
export function asUser(user: ProcessUser, programs: readonly string[] = setprivPrograms): readonly string[] {
  const { uid, gid, noNewPrivileges } = user
  const setpriv = utilLinuxProgram(programs)
  if (setpriv === undefined) {
    throw new Error(
      `failed to start container: to run as user ${uid} takes the program "setpriv" of util-linux on this host: install util-linux`,
    )
  }
  const options = [`--reuid=${uid}`, `--regid=${gid}`, `--groups=${groupsOf(user).join(',')}`]
  return [setpriv, ...options, ...(noNewPrivileges ? ['--no-new-privs'] : [])]
}
