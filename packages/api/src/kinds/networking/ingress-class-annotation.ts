/** The annotation that named the class before there was a field. */
export const ingressClassAnnotation = 'kubernetes.io/ingress.class'
