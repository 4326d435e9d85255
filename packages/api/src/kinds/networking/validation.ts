/** The checks of ingresses and their classes, to be loaded with the first of them: `ingress-checks.ts`. */
export { validateIngressClass, validateIngressClassUpdate } from './ingress-class-validation.ts'
export { validateIngress, validateIngressStatus, validateNewIngress } from './ingress-validation.ts'
