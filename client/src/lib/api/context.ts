import { createContext } from 'svelte';
import type { Api } from './client';

export const [useApi, setApi] = createContext<Api>();
