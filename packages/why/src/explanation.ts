import type { Change } from './change.ts'
import type { Facts, KindRules } from './facts.ts'
import type { Diagnosis, Finding, ObjectReference } from './finding.ts'
import { referenceTo } from './finding.ts'
import { rulesOfAll } from './kinds/index.ts'

/**
 * - `stuck`: it stays as it is until somebody does something.
 * - `waiting`: it is on its way, and goes on by itself.
 * - `fine`: nothing is known to hold it up.
 * - `gone`: there is no such object, or not any more.
 */
export type Verdict = 'stuck' | 'waiting' | 'fine' | 'gone'

/** Why an object is as it is. Its JSON is a stable format: members are added, and do not change. */
export interface Explanation {
  readonly apiVersion: 'coracle.dev/v1'
  readonly kind: 'Explanation'
  readonly object: ObjectReference
  readonly verdict: Verdict
  /** What holds it up: causes before what follows from them. */
  readonly findings: readonly Finding[]
  /** The changes that led to how it is, newest first. Absent where the server keeps no record. */
  readonly changes?: readonly Change[]
}

/** What rules find out about an object, and about those it waits for. */
export interface Examined {
  readonly facts: Facts
  readonly rules: KindRules
  readonly leads: readonly Examined[]
}

/** All that holds an object up. Causes stand before what follows from them: what it waits for before that it waits. Pure. */
export function findingsOf(examined: Examined): readonly Finding[] {
  return gathered(tellOf(examined, true))
}

/** A verdict that says no more than the findings do. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  if (findings.some(({ state }) => state === 'stuck')) return 'stuck'
  return findings.some(({ state }) => state === 'waiting') ? 'waiting' : 'fine'
}

function tellOf({ facts, rules, leads }: Examined, isAsked: boolean): readonly Finding[] {
  const { object } = facts
  const told = [...rulesOfAll, ...rules.rules].flatMap((rule) => rule(facts) ?? [])
  const own = told.filter(({ state }) => isAsked || state !== 'hint')
  const led = leads.flatMap((lead) => tellOf(lead, false))
  const isExplained = led.length > 0 || own.some(({ state }) => state !== 'hint')
  const behind = isExplained ? [] : [rules.behind?.(facts) ?? []].flat()
  const causes = own.filter(({ isSymptom }) => isSymptom !== true)
  const symptoms = [...own.filter(({ isSymptom }) => isSymptom === true), ...behind]
  const hints = causes.filter(({ state }) => state === 'hint')
  const holds = causes.filter(({ state }) => state !== 'hint')
  // A controller copies conditions of what it owns: they are told once, of the object that people know.
  const further = led.filter(
    ({ reason, because }) => !holds.some((own) => own.reason === reason && own.because === because),
  )
  const reference = referenceTo(object)
  const findings = (diagnoses: readonly Diagnosis[]) => diagnoses.map((diagnosis) => findingOf(diagnosis, reference))
  return [...findings(holds), ...further, ...findings(symptoms), ...findings(hints)]
}

function findingOf({ isSymptom: _, state = 'stuck', ...diagnosis }: Diagnosis, object: ObjectReference): Finding {
  return { ...diagnosis, state, object }
}

/** What is true of several objects of a kind is told once, of the first. */
function gathered(findings: readonly Finding[]): readonly Finding[] {
  const groups = new Map<string, Finding[]>()
  for (const finding of findings) {
    const key = JSON.stringify([finding.object.kind, finding.reason, generalized(finding)])
    groups.set(key, [...(groups.get(key) ?? []), finding])
  }
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const alike = others.filter(({ object }) => object.uid !== first.object.uid).length
    return alike === 0 ? [first] : [{ ...first, alike }]
  })
}

/** What a finding says without the name of its object. */
const generalized = ({ because, object: { name } }: Finding): string =>
  because.replaceAll(/[a-z0-9.-]+/g, (word) => (word === name ? '' : word))
