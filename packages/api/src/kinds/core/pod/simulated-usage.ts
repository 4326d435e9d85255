import { duplicateField, type FieldError, invalidField, notFoundField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import type { ObjectMeta } from '../../../meta.ts'
import { compareQuantity, quantityProblem, quantityToNumber } from '../../../quantity.ts'

/**
 * What a pod on a simulated node is to use: `cpu=250m,memory=64Mi` for the pod, which its containers share evenly;
 * `web:cpu=250m` for one of its containers. It may be changed at any time.
 */
export const simulatedUsageAnnotation = 'coracle.dev/simulated-usage'

/** What one container uses where nothing is said: it idles. */
export const simulatedUsageDefault = { cpu: 0.001, memory: 8 * 1024 * 1024 } as const

/** Amounts in one annotation, at most. */
export const simulatedUsagesMax = 64

const resources = ['cpu', 'memory'] as const
type SimulatedResource = (typeof resources)[number]

/** Cores and bytes. */
export type SimulatedUsage = Readonly<Record<SimulatedResource, number>>

interface Term {
  /** Empty: the pod. */
  readonly container: string
  readonly resource: string
  readonly amount: string
}

/** What each of the containers of a pod uses, as its annotation says. What cannot be read counts as not said. */
export function simulatedUsageOf(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  containers: readonly string[],
): ReadonlyMap<string, SimulatedUsage> {
  const terms = termsOf(annotations?.[simulatedUsageAnnotation] ?? '').filter(isSound)
  const cpu = sharesOf(terms, 'cpu', containers)
  const memory = sharesOf(terms, 'memory', containers)
  return new Map(
    containers.map((name) => [
      name,
      { cpu: cpu.get(name) ?? simulatedUsageDefault.cpu, memory: memory.get(name) ?? simulatedUsageDefault.memory },
    ]),
  )
}

/** What is said of a resource, by container: containers that nothing is said of share what is said of the pod. */
function sharesOf(
  terms: readonly Term[],
  resource: SimulatedResource,
  containers: readonly string[],
): ReadonlyMap<string, number> {
  const said = terms.filter((term) => term.resource === resource)
  const own = said.filter(({ container }) => container !== '')
  const shares = new Map(own.map(({ container, amount }) => [container, quantityToNumber(amount)]))
  const ofPod = said.find(({ container }) => container === '')
  if (ofPod === undefined) return shares
  const others = containers.filter((name) => !shares.has(name))
  for (const name of others) shares.set(name, quantityToNumber(ofPod.amount) / others.length)
  return shares
}

const annotationPath = FieldPath.of('metadata', 'annotations').key(simulatedUsageAnnotation)

/** What is wrong with the annotation of a pod that has these containers. */
export function validateSimulatedUsage(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  containers: readonly string[],
): readonly FieldError[] {
  const text = annotations?.[simulatedUsageAnnotation]
  if (text === undefined) return []
  const terms = termsOf(text)
  if (terms.length > simulatedUsagesMax) {
    return [invalidField(annotationPath, terms.length, `may not have more than ${simulatedUsagesMax} amounts`)]
  }
  const seen = new Set<string>()
  return terms.flatMap((term): readonly FieldError[] => {
    if (typeof term === 'string') {
      return [
        invalidField(annotationPath, term, 'must be [CONTAINER:]RESOURCE=AMOUNT, such as cpu=250m or web:cpu=250m'),
      ]
    }
    const problem = problemOf(term)
    if (problem !== undefined) return [problem]
    if (term.container !== '' && !containers.includes(term.container)) {
      return [notFoundField(annotationPath, term.container)]
    }
    const slot = `${term.container}:${term.resource}`
    if (seen.has(slot)) return [duplicateField(annotationPath, term.container === '' ? term.resource : slot)]
    seen.add(slot)
    return []
  })
}

/** The terms of an annotation; those that have no such form as the text they are. */
function termsOf(text: string): readonly (Term | string)[] {
  if (text.trim() === '') return []
  return text.split(',').map((each) => {
    const term = each.trim()
    const [, container = '', resource = '', amount = ''] = /^(?:([^:=]+):)?([^:=]+)=([^=]*)$/.exec(term) ?? []
    return resource === '' ? term : { container, resource, amount }
  })
}

const isSound = (term: Term | string): term is Term => typeof term !== 'string' && problemOf(term) === undefined

function problemOf({ resource, amount }: Term): FieldError | undefined {
  if (!resources.some((known) => known === resource)) {
    return invalidField(annotationPath, resource, `must be one of ${resources.join(', ')}`)
  }
  const problem = quantityProblem(amount)
  if (problem !== undefined) return invalidField(annotationPath, amount, problem)
  return compareQuantity(amount, '0') < 0
    ? invalidField(annotationPath, amount, 'must be greater than or equal to 0')
    : undefined
}
