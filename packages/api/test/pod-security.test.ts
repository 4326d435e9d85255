import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Pod, pods as podKind } from '../src/index.ts'
import { type LevelVersion, levelText, podViolations, violationDetails } from '../src/pod-security/index.ts'
import { decoded } from './requests.ts'

/** A pod that upstream's tests create in a namespace of that level, in each of these versions. */
interface Fixture {
  readonly level: 'baseline' | 'restricted'
  readonly since: number
  readonly until: number
  /** The check that the pod is about. */
  readonly check: string
  /** What the refusal says; absent where the pod is allowed. */
  readonly forbidden?: string
  readonly pod: { readonly annotations?: Readonly<Record<string, string>>; readonly spec: Pod['spec'] }
}

const { pods } = JSON.parse(readFileSync(new URL('data/pod-security-fixtures.json', import.meta.url), 'utf8')) as {
  readonly pods: readonly Fixture[]
}
const checks = [...new Set(pods.map(({ check }) => check))]

// What came with the newest of them is still so.
const newest = Math.max(...pods.map(({ until }) => until))
const versionsOf = ({ level, since, until }: Fixture): readonly LevelVersion[] => [
  ...Array.from({ length: until - since + 1 }, (_, index) => ({ level, version: since + index })),
  ...(until === newest ? [{ level, version: 'latest' as const }] : []),
]

describe("upstream's pods about", () => {
  it.each(checks)('%s', (check) => {
    const wrong = pods
      .filter((fixture) => fixture.check === check)
      .flatMap((fixture) =>
        versionsOf(fixture).flatMap((level) => {
          const { annotations = {}, spec } = fixture.pod
          const stored = decoded(podKind, { spec })
          const said = violationDetails(podViolations(level, { annotations, spec: stored.spec }))
          const { forbidden } = fixture
          const isRight = forbidden === undefined ? said === '' : said.includes(forbidden)
          return isRight ? [] : [`${levelText(level)}: ${said} instead of ${forbidden ?? 'nothing'}`]
        }),
      )
    expect(wrong).toEqual([])
  })
})
