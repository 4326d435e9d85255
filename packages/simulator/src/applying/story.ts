import { seededRandom } from '@coracle/environment'
import { Draw } from '../draw.ts'
import type { Operation, Request, Target } from '../operation.ts'
import type { Fields } from './fields.ts'

/** How often a scenario has objects that several apply. */
const appliedShare = 0.2
const requestsMin = 4
const requestsMax = 14

const namespace = 'default'
/** Who applies. */
const appliers = ['anna', 'bert'] as const

/** An object that several apply, by the names of the fields that they give it. */
interface Applied {
  readonly target: Target
  /** What all of them say, without which there is no such object. */
  readonly common: Fields
  /** What each says or not, with the values there are. */
  readonly own: Readonly<Record<string, readonly (string | number)[]>>
  /** What can be taken away by a patch. */
  readonly removable: readonly string[]
}

const image = (container: string) => `.spec.template.spec.containers[name="${container}"].image`
const variable = (name: string) => `.spec.template.spec.containers[name="main"].env[name="${name}"].value`
const [one, two, three] = ['1', '2', '3'] as const
const texts = [one, two, three]

const settings: Applied = {
  target: { kind: 'ConfigMap', namespace, name: 'settings' },
  common: {},
  own: {
    '.data.a': texts,
    '.data.b': texts,
    '.data.c': texts,
    '.metadata.labels.tier': texts,
    '.metadata.annotations.note': texts,
  },
  removable: ['.data.a', '.data.b', '.data.c', '.metadata.labels.tier', '.metadata.annotations.note'],
}

const application: Applied = {
  target: { kind: 'Deployment', namespace, name: 'applied' },
  common: {
    [image('main')]: 'example/web:1',
  },
  own: {
    '.spec.replicas': [1, 2, 3],
    [image('beside')]: ['example/web:1', 'example/web:2'],
    [variable('A')]: texts,
    [variable('B')]: texts,
    '.metadata.labels.tier': texts,
    '.metadata.annotations.note': texts,
  },
  removable: ['.metadata.labels.tier', '.metadata.annotations.note'],
}

/** The names of all fields that are applied to an object. */
export const fieldNamesOf = ({ kind }: Target): readonly string[] => {
  const { common, own } = kind === 'Deployment' ? application : settings
  return [...Object.keys(common), ...Object.keys(own)]
}

/**
 * A scenario's operations with those of two appliers and a controller among them, who give one object its fields. They are drawn from a source of their own, so
 * that a seed without them is what it is without all this.
 */
export function withAppliers(seed: number, operations: readonly Operation[]): readonly Operation[] {
  const draw = new Draw(seededRandom(seed).fork('appliers'))
  if (!draw.chance(appliedShare)) return operations
  const lastMs = Math.max(30_000, operations.at(-1)?.atMs ?? 0)
  const applied = draw.of([settings, application])
  const count = requestsMin + draw.below(requestsMax - requestsMin)
  const added = Array.from({ length: count }, (_, index): Operation => {
    const atMs = index === 0 ? 0 : draw.below(lastMs)
    return { atMs, ...requestTo(draw, applied) }
  })
  return [...operations, ...added].toSorted((a, b) => a.atMs - b.atMs)
}

function requestTo(draw: Draw, { target, common, own, removable }: Applied): Request {
  const chosen = (share: number) =>
    Object.fromEntries(
      Object.entries(own).flatMap(([name, values]) => (draw.chance(share) ? [[name, draw.of(values)]] : [])),
    )
  const choice = draw.next()
  if (choice < 0.75) {
    const fields = { ...common, ...chosen(0.4) }
    return { type: 'apply', target, manager: draw.of(appliers), fields, isForced: draw.chance(0.3) }
  }
  if (choice < 0.95) {
    const removed = draw.chance(0.4) ? { [draw.of(removable)]: null } : {}
    return { type: 'write-fields', target, manager: 'controller', fields: { ...chosen(0.3), ...removed } }
  }
  return { type: 'delete', target, propagationPolicy: 'Background' }
}
