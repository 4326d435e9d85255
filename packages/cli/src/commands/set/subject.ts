import { type ClusterRoleBinding, compareText, deepEqual, type RoleBinding, type Subject } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { type Change, type ChangeFlags, changeObjects, localAndServer } from '../change-objects.ts'
import { writeChanges } from '../write-changes.ts'
import { allAndSelector, changing, setFieldManager, setFlags } from './pod-templates.ts'

export interface SetSubjectFlags extends Omit<ChangeFlags, 'user'> {
  readonly user: readonly string[]
  readonly group: readonly string[]
  /** `NAMESPACE:NAME`. */
  readonly serviceaccount: readonly string[]
}

/** `coracle set subject rolebinding NAME --user=NAME`: gives a role to further users, groups and service accounts. */
export async function setSubject(host: Host, args: readonly string[], flags: SetSubjectFlags): Promise<void> {
  // A user of the kubeconfig is something else.
  const { user, ...rest } = flags
  const { group, serviceaccount, dryRun, fieldManager = setFieldManager } = flags
  const check = (): void => {
    for (const refusal of [...localAndServer(rest), ...allAndSelector(rest)]) throw refusal
    if (user.length + group.length + serviceaccount.length === 0) {
      throw new CliError('you must specify at least one value of user, group or serviceaccount')
    }
    if (serviceaccount.some((text) => !/^[^:]*:[^:]+$/.test(text))) {
      throw new CliError('serviceaccount must be <namespace>:<name>')
    }
  }
  const change: Change = async (session, target) => {
    const { object: before } = target
    if (before.kind !== 'RoleBinding' && before.kind !== 'ClusterRoleBinding') {
      return changing(target, rest, () => {
        throw new CliError('setting subjects is only supported for RoleBinding/ClusterRoleBinding')
      })
    }
    const binding = before as ClusterRoleBinding | RoleBinding
    const present = binding.subjects ?? []
    const added = subjectsOf(flags, session.namespace).filter((each) => !present.some((one) => deepEqual(one, each)))
    if (added.length === 0) return undefined
    const wanted = { ...binding, subjects: [...present, ...added] }
    const failure = 'failed to patch subjects to rolebinding:'
    const object = await writeChanges(session, target, wanted, { dryRun, fieldManager, failure })
    return { verb: 'subjects updated', object }
  }
  await changeObjects(host, args, 'set', { ...rest, ...setFlags }, change, check)
}

function subjectsOf({ user, group, serviceaccount }: SetSubjectFlags, ownNamespace: string): readonly Subject[] {
  const apiGroup = 'rbac.authorization.k8s.io'
  const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort(compareText)
  return [
    ...unique(user).map((name) => ({ kind: 'User', apiGroup, name })),
    ...unique(group).map((name) => ({ kind: 'Group', apiGroup, name })),
    ...unique(serviceaccount).map((text) => {
      const [namespace = '', name = ''] = text.split(':')
      return { kind: 'ServiceAccount', name, namespace: namespace || ownNamespace }
    }),
  ]
}
