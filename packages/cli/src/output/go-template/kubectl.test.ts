import { describe, expect, it } from 'vitest'
import { executeGoTemplate, parseGoTemplate } from './index.ts'
import answers from './testing/kubectl-answers.json' with { type: 'json' }
import { subject, templates } from './testing/templates.ts'

/** What kubectl prints, or its error and what it has printed before. */
type Answer = string | { readonly error: string; readonly written?: string }

const answerOf: Readonly<Record<string, Answer>> = answers

/** As kubectl reads it from a file. */
const object = { ...subject, metadata: { ...subject.metadata, namespace: 'default' } }

function run(template: string): Answer {
  try {
    return executeGoTemplate(parseGoTemplate(template), object, { requireKeys: false })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const written = 'written' in error && typeof error.written === 'string' ? error.written : ''
    return { error: error.message, ...(written === '' ? {} : { written }) }
  }
}

// Answers of kubectl 1.36, recorded by testing/record-kubectl-answers.ts.
describe.each(Object.entries(templates))('%s', (_, all) => {
  it.each(all)('%j', (template) => {
    expect(run(template)).toEqual(answerOf[template])
  })
})
