import { cleanup, configure } from '@testing-library/svelte';
import { afterEach } from 'vitest';

// Tests assert no time; a busy machine takes longer.
configure({ asyncUtilTimeout: 20_000 });

afterEach(() => {
  cleanup();
  localStorage.clear();
});
