import {
  type KubernetesObject,
  localSubjectAccessReviews,
  type ResourceDefinition,
  selfSubjectAccessReviews,
  selfSubjectReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  tokenReviews,
} from '@coracle/api'
import { LoadOnce } from '@coracle/environment'
import type { AdmissionChain } from '../admission/admission.ts'
import { type PostedAnswer, PostedRegistry } from '../registry/posted-registry.ts'
import type { ReviewAnswers, ReviewParts } from './review-answers.ts'

/**
 * Serves what is asked about users and their rights (authentication.k8s.io and authorization.k8s.io). The answers come from what
 * decides about requests itself, and are loaded with the first question. Nothing is stored; admission sees a review as the creation it is.
 */
export function serveReviews(admission: AdmissionChain, parts: ReviewParts): void {
  const load = async (): Promise<ReviewAnswers> => (await import('./review-answers.ts')).reviewAnswers(parts)
  // Time stands still meanwhile where it is virtual.
  const answers = new LoadOnce(() => parts.clock.hold(load()))
  const serve = <T extends KubernetesObject>(
    definition: ResourceDefinition<T>,
    answerOf: (all: ReviewAnswers) => PostedAnswer<T>,
  ) => {
    const answer = async () => answerOf(await answers.get())
    parts.registries.addComputed(new PostedRegistry(parts.clock, definition, admission, answer))
  }
  serve(selfSubjectReviews, ({ selfSubject }) => selfSubject)
  serve(tokenReviews, ({ token }) => token)
  serve(subjectAccessReviews, ({ subjectAccess }) => subjectAccess)
  serve(localSubjectAccessReviews, ({ localSubjectAccess }) => localSubjectAccess)
  serve(selfSubjectAccessReviews, ({ selfSubjectAccess }) => selfSubjectAccess)
  serve(selfSubjectRulesReviews, ({ selfSubjectRules }) => selfSubjectRules)
}
