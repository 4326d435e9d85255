import type { Job } from './job-schema.ts'

/** Labels by which the pods of a Job are known. The ones without a prefix are older, and still given. */
export const jobLabels = {
  controllerUid: 'batch.kubernetes.io/controller-uid',
  jobName: 'batch.kubernetes.io/job-name',
  legacyControllerUid: 'controller-uid',
  legacyJobName: 'job-name',
} as const

/** The labels that the server gives to the pods of a Job. */
export function generatedLabels({ metadata: { name = '', uid = '' } }: Job): Readonly<Record<string, string>> {
  return {
    [jobLabels.controllerUid]: uid,
    [jobLabels.jobName]: name,
    [jobLabels.legacyControllerUid]: uid,
    [jobLabels.legacyJobName]: name,
  }
}

/**
 * A new Job whose selector finds its own pods and no others, unless it brings its own. The labels of its template are its
 * own labels where it has none.
 */
export function withGeneratedSelector(job: Job): Job {
  const { metadata, spec } = job
  if (spec.manualSelector === true) return job
  const { template, selector } = spec
  // What is there already stays: validation tells what is wrong with it.
  const labels = { ...generatedLabels(job), ...template.metadata?.labels }
  const sharesLabels = metadata.labels === undefined || metadata.labels === template.metadata?.labels
  const matchLabels = { [jobLabels.controllerUid]: metadata.uid ?? '', ...selector?.matchLabels }
  return {
    ...job,
    metadata: sharesLabels ? { ...metadata, labels } : metadata,
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
}
