import { formerVersionNames } from '@coracle/api'
import type { Inapplicable } from './inapplicable.ts'
import { inapplicable as inapplicable20 } from './inapplicable-1.20.ts'
import { inapplicable as inapplicable36 } from './inapplicable-1.36.ts'
import { FirstOutputReader, type OutputReader, SecondOutputReader } from './reports.ts'

/** What has changed between upstream's programs: with 1.25 came the second version of Ginkgo. */
export interface Generation {
  readonly dryRunFlag: string
  readonly runFlags: readonly string[]
  readonly readerOf: (names: readonly string[]) => OutputReader
  readonly inapplicable: readonly Inapplicable[]
  /** Versions of APIs that the specs ask for and upstream has removed since. */
  readonly formerVersions: readonly string[]
  /** Images of specs that look at what becomes of a pod whose image is not there. */
  readonly missingImages: readonly string[]
}

const first: Generation = {
  dryRunFlag: '--ginkgo.dryRun',
  runFlags: ['--ginkgo.noColor'],
  readerOf: () => new FirstOutputReader(),
  inapplicable: inapplicable20,
  formerVersions: formerVersionNames,
  missingImages: ['webserver:404', 'foo:non-existent', 'invalid.com/*', 'gcr.io/authenticated-image-pulling/*'],
}

const second: Generation = {
  dryRunFlag: '--ginkgo.dry-run',
  // Without a limit of its own a process ends after an hour.
  runFlags: ['--ginkgo.no-color', '--ginkgo.v', '--ginkgo.timeout=24h'],
  readerOf: (names) => new SecondOutputReader(names),
  inapplicable: inapplicable36,
  formerVersions: [],
  missingImages: [
    'webserver:404',
    'foo:non-existent',
    'invalid.registry.k8s.io/*',
    'localhost/some-image-that-doesnt-exist',
    'gcr.io/authenticated-image-pulling/*',
  ],
}

const secondSinceMinor = 25

/** By what `e2e.test --version` prints, as `v1.36.2`. Throws an Error for anything else. */
export function generationOf(version: string): Generation {
  const [, minor] = /^v1\.(\d+)\./m.exec(version) ?? []
  if (minor === undefined) throw new Error(`--binary prints no version of Kubernetes, but ${JSON.stringify(version)}`)
  return Number(minor) < secondSinceMinor ? first : second
}
