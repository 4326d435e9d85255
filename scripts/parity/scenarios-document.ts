import { type Scenario, suites } from './scenarios.ts'

/** `docs/upstream-scenarios.md`: each scenario of upstream's end-to-end tests, and the test here that asks the same. */
export function scenariosDocument(): string {
  const all = suites.flatMap((suite) => suite.scenarios)
  const asked = all.filter((each) => 'file' in each).length
  return [
    '# Upstream’s end-to-end scenarios',
    '',
    'Written by `npm run parity`; a test keeps it true. The scenarios are those of Kubernetes’ `test/e2e/apps`, `autoscaling`,',
    '`scheduling` and `network`, without their tags. Those that are asked here are asked of a whole cluster on a virtual clock, unless the',
    'file says otherwise. Scenarios of one reason that differ little share a row.',
    '',
    `${asked} of ${all.length} rows are asked here.`,
    ...suites.flatMap(({ name, scenarios }) => [
      '',
      `## ${name}`,
      '',
      '| Upstream | Here |',
      '| --- | --- |',
      ...scenarios.map((each) => `| ${each.name} | ${whereOf(each)} |`),
    ]),
    '',
  ].join('\n')
}

function whereOf(scenario: Scenario): string {
  if ('reason' in scenario) return `not asked. ${scenario.reason}`
  const { file, tests } = scenario
  return `[${file.replace(/^.*\/([^/]+\/[^/]+)\.test\.ts$/, '$1')}](../${file}): ${tests.map((each) => each.trim()).join('; ')}`
}
