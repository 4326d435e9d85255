/** A part of the project whose tests must notice when its code is changed. */
export interface MutationArea {
  /** What is mutated, as globs relative to the repository; `!` in front takes files out again. */
  readonly mutate: readonly string[]
  /**
   * The tests that judge it, as globs: those next to the code, which must notice by themselves. Without them all tests
   * that reach the code judge; where half the project stands on it, that takes minutes for each mutant.
   */
  readonly tests?: readonly string[]
}

/** The share of mutants, in percent, that the tests of every area must kill. */
export const scoreMin = 85

/** Tells the processes of a run which tests judge: the globs, with spaces between them. */
export const testsVariable = 'CORACLE_MUTATION_TESTS'

const noTests = ['!**/*.test.ts', '!**/testing/**']

export const areas: Readonly<Record<string, MutationArea>> = {
  etcd: {
    mutate: ['packages/store/src/etcd/*.ts', ...noTests],
    tests: ['packages/store/src/etcd/*.test.ts', 'packages/store/test/etcd-store.test.ts'],
  },
  store: {
    // Tests of limits would only say them again.
    mutate: ['packages/store/src/*.ts', '!packages/store/src/limits.ts', ...noTests],
    tests: ['packages/store/src/*.test.ts', 'packages/store/test/!(etcd-store).test.ts'],
  },
  scheduler: { mutate: ['packages/scheduler/src/**/*.ts', ...noTests], tests: ['packages/scheduler/**/*.test.ts'] },
  'device-binder': {
    mutate: ['packages/scheduler/src/devices/device-binder.ts'],
    tests: ['packages/scheduler/src/devices/device-binder.test.ts'],
  },
  patch: {
    mutate: ['packages/api/src/patch/**/*.ts', ...noTests],
    tests: ['packages/api/src/patch/*.test.ts'],
  },
  selectors: {
    mutate: [
      'packages/api/src/selectors.ts',
      'packages/api/src/selector-operators.ts',
      'packages/api/src/label-selectors.ts',
      'packages/api/src/label-selector-parser.ts',
      'packages/api/src/field-selectors.ts',
    ],
    tests: ['packages/api/src/selectors.test.ts'],
  },
  plans: {
    mutate: [
      'packages/controllers/src/**/{plan,plan-*}.ts',
      'packages/controllers/src/{deployment,job,replicas}/*.ts',
      // What carries out the plans of Jobs is judged by tests of whole clusters.
      '!packages/controllers/src/job/controller.ts',
      ...noTests,
    ],
    tests: ['packages/controllers/**/*.test.ts'],
  },
  apply: {
    mutate: ['packages/api/src/apply/*.ts', ...noTests],
    // One test takes seconds to see that time is in proportion.
    tests: ['packages/api/src/apply/!(many-elements).test.ts', 'packages/api/test/structured-merge-diff.test.ts'],
  },
  'checked-order': {
    mutate: ['packages/api/src/schema/checked-order.ts'],
    tests: ['packages/api/src/schema/checked-order.test.ts'],
  },
  'list-options': {
    mutate: ['packages/apiserver/src/registry/{list-request,collection-reader}.ts'],
    tests: [
      'packages/apiserver/src/registry/{list,list-request,collection-reader}.test.ts',
      'packages/apiserver/src/watch-cache/watch.test.ts',
    ],
  },
  'go-yaml': {
    mutate: ['packages/client/src/go-yaml/*.ts', ...noTests],
    tests: ['packages/client/src/go-yaml/*.test.ts'],
  },
  'pod-plans': {
    mutate: ['packages/kubelet/src/pod/{plan-pod,pod-hostname,restart-policy,container-restart}.ts'],
    tests: ['packages/kubelet/src/pod/*.test.ts'],
  },
  proxy: { mutate: ['packages/proxy/src/*.ts', ...noTests], tests: ['packages/proxy/src/*.test.ts'] },
  'cel-values': {
    mutate: ['packages/api/src/cel/{constants,no-overload,validate}.ts', 'packages/api/src/cel/library/conversions.ts'],
    tests: ['packages/api/src/cel/*.test.ts', 'packages/api/src/cel/library/*.test.ts'],
  },
  'cel-estimates': {
    mutate: ['packages/api/src/cel/{estimate,call-estimates,ranges}.ts'],
    tests: ['packages/api/src/cel/*.test.ts'],
  },
  'go-templates': {
    mutate: ['packages/cli/src/output/go-template/*.ts', ...noTests],
    tests: ['packages/cli/src/output/go-template/*.test.ts'],
  },
  spdy: {
    mutate: [
      'packages/client/src/streaming/spdy/*.ts',
      '!packages/client/src/streaming/spdy/dictionary.ts',
      ...noTests,
    ],
    tests: ['packages/client/src/streaming/spdy/*.test.ts'],
  },
  why: {
    mutate: ['packages/why/src/**/*.ts', ...noTests],
    // Most rules are tried in situations that come about in simulated clusters.
    tests: ['packages/why/src/**/*.test.ts', 'packages/simulator/test/why/*.test.ts'],
  },
  'rehearsed-plans': {
    mutate: ['packages/simulator/src/plan/{availability,problems,progress,promises,timeline}.ts'],
    tests: ['packages/simulator/src/plan/*.test.ts'],
  },
  'flow-control': {
    mutate: [
      'packages/apiserver/src/flow-control/{flow-control,level-queues,matching,seats,seat-shares,shuffle-sharding,timed-ratio}.ts',
    ],
    tests: ['packages/apiserver/src/flow-control/{classification,flow-control,flow-metrics}.test.ts'],
  },
  authentication: {
    mutate: ['packages/api/src/authentication/{claims,compile-configuration}.ts'],
    tests: ['packages/api/src/authentication/*.test.ts'],
  },
  'watch-cache': {
    mutate: ['packages/apiserver/src/watch-cache/**/*.ts', ...noTests],
    // Whole servers take longer to load than the cache takes to test.
    // The first glob leaves out whatever begins with one of its names.
    tests: [
      'packages/apiserver/src/watch-cache/!(cost|restart|shared-store|unread-watch|watch).test.ts',
      'packages/apiserver/src/watch-cache/{watch-cache,watcher-index}.test.ts',
    ],
  },
}

/** The first area that a file, or a glob of files, lies in; undefined where it lies in none. */
export function areaOf(file: string): MutationArea | undefined {
  return Object.values(areas).find(({ mutate }) =>
    mutate.some((glob) => file.startsWith(glob.split(/[*{]/)[0] ?? glob)),
  )
}
