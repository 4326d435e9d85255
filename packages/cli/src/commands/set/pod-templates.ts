import { type Container, deepEqual, isJsonObject, type KubernetesObject, type PodSpec } from '@coracle/api'
import { CliError } from '../../cli-error.ts'
import type { Host } from '../../host.ts'
import { fieldManagerOf } from '../../manifests/field-managers.ts'
import type { Outcome } from '../../output/outcome-printer.ts'
import type { Session } from '../../session.ts'
import { withChangeCause } from '../change-cause.ts'
import { type ChangeFlags, changeObjects } from '../change-objects.ts'
import type { Target } from '../targets.ts'
import { writeChanges } from '../write-changes.ts'

/** Who sets, for field ownership. */
export const setFieldManager = fieldManagerOf('set')

/** What is said of a change: when it is made, and before the reason why it is not. */
export interface ChangeTexts {
  readonly done: string
  readonly failure: string
  /** It is said, too, where there was nothing to change. */
  readonly isAlwaysSaid?: boolean
}

/** Changes the pods that objects describe, of whatever kind: where nothing differs, nothing is said. `check` is called once they are found. */
export function changeTemplates(
  host: Host,
  resources: readonly string[],
  flags: ChangeFlags,
  texts: ChangeTexts,
  change: (spec: PodSpec) => PodSpec,
  check?: () => void,
): Promise<void> {
  return changeObjects(
    host,
    resources,
    'set',
    { ...flags, ...setFlags },
    (session, target) =>
      changedTemplate(
        session,
        target,
        changing(target, flags, () => change(templateOf(target))),
        flags,
        texts,
      ),
    check,
  )
}

/** What kubectl's `set` has to know of objects before it changes any. */
export const setFlags = { typed: true, needsAll: true, namesFirst: true, hasDeclaredOrder: true } as const

/** Why objects cannot be chosen as flags say; empty where they can. */
export const allAndSelector = ({ all, selector }: ChangeFlags): readonly CliError[] =>
  all === true && selector !== undefined ? [new CliError('cannot set --all and --selector at the same time')] : []

/** What cannot be changed is told with the name of the object, and each in a paragraph of its own, as kubectl does. */
export function changing<T>({ resource, key }: Target, { local }: ChangeFlags, change: () => T): T {
  try {
    return change()
  } catch (error) {
    if (!(error instanceof CliError) || error.message.startsWith('error: ')) throw error
    const type = local === true ? resource.singular : resource.plural
    throw new CliError(`error: ${type}/${key.name} ${error.message}\n`)
  }
}

export async function changedTemplate(
  session: Session,
  target: Target,
  spec: PodSpec,
  flags: ChangeFlags,
  { done, failure, isAlwaysSaid = false }: ChangeTexts,
): Promise<Outcome | undefined> {
  const { dryRun, fieldManager = setFieldManager } = flags
  const wanted = withChangeCause(withTemplate(target, spec), flags)
  if (!isAlwaysSaid && deepEqual(wanted, target.object)) return undefined
  return { verb: done, object: await writeChanges(session, target, wanted, { dryRun, fieldManager, failure }) }
}

/** Where kinds have the pods they describe, under their spec. */
const templatePaths: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
  PodTemplate: ['template', 'spec'],
}
const usualPath = ['spec', 'template', 'spec']

/** Whether an object describes pods. */
export const hasTemplate = ({ object }: Target): boolean => findTemplate(object) !== undefined

function findTemplate(object: KubernetesObject): PodSpec | undefined {
  let value: unknown = object
  for (const name of templatePaths[object.kind] ?? usualPath) value = isJsonObject(value) ? value[name] : undefined
  return isJsonObject(value) && Array.isArray(value.containers) ? (value as unknown as PodSpec) : undefined
}

export function templateOf({ resource, object }: Target): PodSpec {
  const found = findTemplate(object)
  if (found !== undefined) return found
  throw new CliError(`the object is not a pod or does not have a pod template: *${resource.version}.${object.kind}`)
}

function withTemplate({ object }: Target, spec: PodSpec): KubernetesObject {
  const replaced = (value: unknown, [name, ...rest]: readonly string[]): unknown => {
    if (name === undefined) return spec
    const members = value as Readonly<Record<string, unknown>>
    return { ...members, [name]: replaced(members[name], rest) }
  }
  return replaced(object, templatePaths[object.kind] ?? usualPath) as KubernetesObject
}

export const allContainers = ({ initContainers = [], containers = [] }: PodSpec): readonly Container[] => [
  ...initContainers,
  ...containers,
]

export function withContainers(spec: PodSpec, change: (container: Container) => Container): PodSpec {
  const { initContainers, containers } = spec
  return {
    ...spec,
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(change) }),
    ...(containers === undefined ? {} : { containers: containers.map(change) }),
  }
}

/** `web-*` as a test of names. */
export function nameMatcher(pattern: string): (name: string) => boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')
  const expression = new RegExp(`^${source}$`)
  return (name) => expression.test(name)
}
